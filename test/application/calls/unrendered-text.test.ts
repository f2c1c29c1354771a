import { expect, test } from "vitest";
import type { Speech } from "../../../src/ports/speech.ts";
import { MS_PER_CHARACTER, ToneSpeech, World } from "../../support/application.ts";

const FIRST_SENTENCE = "The museum is closed on Monday, and on Tuesday as well. ";
const REMAINDER = "It opens again on Wednesday at nine o'clock in the morning. ";

/** Speaks the start of a text immediately, and never the rest. */
class StuckSpeech extends ToneSpeech {
  override async *speak(...[text, voiceId, signal]: Parameters<Speech["speak"]>) {
    if (!text.includes("Monday")) await new Promise((_, reject) => signal.addEventListener("abort", reject));
    yield* super.speak(text, voiceId, signal);
  }
}

test("text not rendered when the callee hangs up counts as unheard", async () => {
  const speech = new StuckSpeech();
  const world = await World.start({ speech: () => speech });
  const { call, leg } = await world.answeredCall(await world.activeInstance(), FIRST_SENTENCE + REMAINDER.repeat(7));
  await world.system.advance(20_000);
  leg.end("callee_hung_up");
  await world.system.settle();
  const { outcome } = await world.storedCall(call);
  expect(outcome).toMatchObject({ reason: "callee_hung_up", heardMs: FIRST_SENTENCE.length * MS_PER_CHARACTER });
  const characters = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  const share = characters(FIRST_SENTENCE) / characters(FIRST_SENTENCE + REMAINDER.repeat(7));
  expect(outcome?.heardRatio).toBeCloseTo(share, 3);
  await world.stop();
});
