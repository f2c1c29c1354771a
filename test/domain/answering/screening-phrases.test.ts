import { expect, test } from "vitest";
import { isCallScreening, isScreeningFollowUp } from "../../../src/domain/answering/screening-phrases.ts";
import { isVoicemailGreeting } from "../../../src/domain/answering/voicemail-phrases.ts";

test.each([
  "Hi, if you record your name and reason for calling, I'll see if this person is available.",
  "Hi. If you record your name and the reason for calling",
  "Hi, the person you're calling is using a screening service from Google, and will get a copy of this conversation. Go ahead and say your name and why you're calling.",
  "Go ahead and say your name, and why you're calling.",
  "The person you are calling uses a service to screen calls.",
  "Hello, this is Bixby Text Call.",
  "Olá, se você gravar seu nome e o motivo da ligação, vou verificar se a pessoa está disponível.",
  "Hola. Si graba su nombre y el motivo de la llamada, veré si esta persona está disponible.",
  "Hallo. Wenn Sie Ihren Namen und den Grund Ihres Anrufs aufnehmen, prüfe ich, ob diese Person verfügbar ist.",
  "Bonjour, si vous enregistrez votre nom et la raison de votre appel",
  "Bonjour. Enregistrez votre nom et le motif de votre appel, je vais voir si cette personne est disponible.",
  "Ciao, registra il tuo nome e il motivo della chiamata",
])("a screening assistant is recognised: %s", (text) => {
  expect(isCallScreening(text)).toBe(true);
});

test.each([
  "Hello?",
  "Hello, who is this, and why are you calling me?",
  "Good morning, Miller and Sons, may I have your name and the reason for your call?",
  "Hi, you have reached Anna. Please leave your name and number after the tone.",
  "Please record your message after the tone.",
  "Clínica São Lucas, bom dia, qual é o seu nome?",
  "Guten Tag, Firma Maier, darf ich Ihren Namen wissen?",
])("people and voicemail boxes are not screening assistants: %s", (text) => {
  expect(isCallScreening(text)).toBe(false);
});

test("an assistant's words differ from a voicemail box's", () => {
  expect(
    isVoicemailGreeting("Hi, if you record your name and reason for calling, I'll see if this person is available."),
  ).toBe(false);
});

test.each(["Thanks, please stay on the line.", "One moment, please.", "Einen Moment, bitte.", "Ne quittez pas."])(
  "an assistant that asks to wait is not a person: %s",
  (text) => {
    expect(isScreeningFollowUp(text)).toBe(true);
  },
);

test.each(["Hello?", "Yes, this is Anna speaking.", "Alô?", "Ja, hallo?"])(
  "a person is not an assistant: %s",
  (text) => {
    expect(isScreeningFollowUp(text)).toBe(false);
  },
);
