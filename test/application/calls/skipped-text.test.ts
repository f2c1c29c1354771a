import { expect, test } from "vitest";
import { NothingToSpeak, type Speech } from "../../../src/ports/speech.ts";
import { puppet } from "../../support/agent-calls.ts";
import { ALICE, MS_PER_CHARACTER, ToneSpeech, World } from "../../support/application.ts";

/** Speech that refuses texts with a Greek word. */
class LatinSpeech extends ToneSpeech {
  override async *speak(...[text, voiceId, signal]: Parameters<Speech["speak"]>) {
    if (/\p{sc=Grek}/u.test(text)) throw new NothingToSpeak("no Greek");
    yield* super.speak(text, voiceId, signal);
  }
}

async function latinWorld(): Promise<World> {
  const world = await World.start();
  world.speech.scripts = ["Latn"];
  return world;
}

test("an unspeakable part of a text is reported, and counts as unheard", async () => {
  const world = await latinWorld();
  const { call } = await world.answeredCall(await world.activeInstance(), "Good morning. Привет! 😀 See you 你好");
  await world.system.advance(10_000);
  const spokenText = world.speech.receivedTexts.join("");
  expect(spokenText.replace(/\s+/g, " ").trim()).toBe("Good morning. See you");
  const { outcome } = await world.storedCall(call);
  expect(outcome).toMatchObject({ reason: "message_played", heardMs: spokenText.length * MS_PER_CHARACTER });
  expect(outcome?.heardRatio).toBeCloseTo(17 / (17 + 6 + 1 + 2), 3);
  const events = (await world.timeline(call)).filter(({ type }) => type === "text_skipped");
  expect(events.map(({ data }) => data)).toEqual([{ text: "Привет! 😀 … 你好", characters: 9 }]);
  await world.stop();
});

test("a fully spoken text is reported as heard, without an event", async () => {
  const world = await latinWorld();
  const { call } = await world.answeredCall(await world.activeInstance(), "Olá, às 9h: ça va? ½ + £5 © ｈｉ ٣");
  await world.system.advance(10_000);
  expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", heardRatio: 1 });
  expect(await world.eventTypes(call)).not.toContain("text_skipped");
  expect(world.speech.receivedTexts).toEqual(["Olá, às 9h: ça va? ½ + £5 © hi 3"]);
  await world.stop();
});

test("a text without a speakable word is refused, naming voices that can speak it", async () => {
  const world = await latinWorld();
  const instance = await world.activeInstance();
  const voices = await world.speech.voices();
  world.speech.voices = async () => [
    ...voices,
    { ...voices[0]!, id: "pt-BR-1", language: "pt-BR", scripts: ["Latn", "Cyrl"] },
    { ...voices[0]!, id: "ru-RU-1", language: "ru-RU", scripts: ["Cyrl"] },
    { ...voices[0]!, id: "ru-RU-2", language: "ru-RU", scripts: ["Cyrl"] },
  ];
  await expect(world.call(instance, "Привет, мир! 😀")).rejects.toMatchObject({
    code: "text_unspeakable",
    errors: [
      {
        pointer: "/tts/text",
        code: "text_unspeakable",
        detail: "voice en-US-1 cannot speak Cyrillic; to fix it, choose a voice that can: ru-RU-1, pt-BR-1",
      },
    ],
  });
  await expect(world.call(instance, "你好")).rejects.toThrow(
    "voice en-US-1 cannot speak Han, and no other voice here can; write the text in a script that it speaks",
  );
  await world.call(instance, "Привет 1");
  await world.stop();
});

test("a slice without a speakable word is reported", async () => {
  const speech = new LatinSpeech();
  const world = await World.start({ speech: () => speech });
  const sentence = "The museum is closed on Monday, and on Tuesday as well. ";
  const greekText = "Το μουσείο είναι κλειστό τη Δευτέρα και την Τρίτη. ";
  const { call } = await world.answeredCall(
    await world.activeInstance(),
    `${sentence}${greekText.repeat(6)}${sentence}`,
  );
  await world.system.advance(60_000);
  const skippedEvents = (await world.timeline(call)).filter(({ type }) => type === "text_skipped");
  const characters = skippedEvents.reduce((sum, { data }) => sum + (data as { characters: number }).characters, 0);
  expect(characters).toBeGreaterThanOrEqual(6 * 40);
  const { outcome } = await world.storedCall(call);
  expect(outcome?.reason).toBe("message_played");
  expect(outcome?.heardRatio).toBeLessThan(0.5);
  await world.stop();
});

test("a long passage is cut in its event, but fully counted", async () => {
  const world = await latinWorld();
  const { call } = await world.answeredCall(await world.activeInstance(), `Hello ${"你".repeat(1_000)}`);
  await world.system.advance(10_000);
  const [event] = (await world.timeline(call)).filter(({ type }) => type === "text_skipped");
  expect(event?.data).toEqual({ text: `${"你".repeat(199)}…`, characters: 1_000 });
  await world.stop();
});

test("codes are spoken digit by digit", async () => {
  const world = await World.start();
  const { call } = await world.answeredCall(await world.activeInstance(), "Your code is 482913");
  await world.system.advance(10_000);
  expect(world.speech.receivedTexts).toEqual(["Your code is 4 8 2, 9 1 3"]);
  expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "message_played", heardRatio: 1 });
  await world.stop();
});

test("an unspeakable sentence of an agent is reported, and the others are spoken", async () => {
  const agent = puppet(async function* () {
    for (const text of ["Good morning.", "你好，世界。", "Goodbye."]) yield { type: "say", text, interruptible: false };
    yield { type: "hang_up" };
  });
  const world = await World.start({ agent });
  world.speech.scripts = ["Latn"];
  const { call } = await world.answeredAgentCall({ instructions: ["Say hello."] });
  await world.system.advance(10_000);
  expect(world.speech.receivedTexts).toEqual(["Good morning.", "Goodbye."]);
  expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "agent_finished" });
  const skippedEvents = (await world.timeline(call)).filter(({ type }) => type === "text_skipped");
  expect(skippedEvents.map(({ data }) => data)).toEqual([{ text: "你好，世界", characters: 4 }]);
  const lines = (await world.app.calls.transcripts(ALICE, [call])).get(call.id) ?? [];
  expect(lines.map(({ text }) => text)).toEqual(["Good morning.", "Goodbye."]);
  await world.stop();
});
