import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isVoicemailGreeting } from "../../../src/domain/answering/voicemail-phrases.ts";
import { fuzz } from "../../support/fuzz.ts";

test.each([
  "Hi, you have reached Anna. Please leave a message after the tone.",
  "Your call has been forwarded to an automatic voice message system.",
  "I can't come to the phone right now",
  "Sua chamada está sendo encaminhada para a caixa postal e estará sujeita à cobrança após o sinal",
  "Deixe sua mensagem após o bipe.",
  "Grave o seu recado",
  "Deje su mensaje después de la señal",
  "El buzón de voz está lleno",
  "Bitte hinterlassen Sie eine Nachricht nach dem Signalton",
  "Der Teilnehmer ist derzeit leider nicht erreichbar",
  "Laissez un message après le bip sonore",
  "Vous êtes bien sur la messagerie de Paul",
  "Lasciate un messaggio dopo il segnale acustico",
  "Risponde la segreteria telefonica",
])("words of a machine are recognised: %s", (text) => {
  expect(isVoicemailGreeting(text)).toBe(true);
});

test.each([
  "Hello?",
  "Good morning, Miller and Sons, Maria speaking, how can I help you?",
  "Alô, quem fala?",
  "Clínica São Lucas, bom dia, em que posso ajudar?",
  "Guten Tag, Firma Maier, was kann ich für Sie tun?",
  "Oui, bonjour, c'est de la part de qui ?",
  "Pronto, chi parla?",
  "I got your message, thank you",
])("a person's words are not a machine's: %s", (text) => {
  expect(isVoicemailGreeting(text)).toBe(false);
});

fuzz(
  "any text gets a verdict; a text without a phrase is not a machine's",
  fc.property(fc.string({ unit: "grapheme", maxLength: 3_000 }), (text) => {
    expect(typeof isVoicemailGreeting(text)).toBe("boolean");
    expect(isVoicemailGreeting("x ".repeat(text.length))).toBe(false);
  }),
);
