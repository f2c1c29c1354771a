import { expect } from "vitest";
import type { RuntimeName } from "../../support/runtimes.ts";
import { loudPart, toneShare, toneWav } from "../../support/server-sound.ts";
import type { Consumer } from "./consumer.ts";

const TONE_HZ = 1000;
const TONE_MS = 1500;

/** Places a call from an installed package, with a program in the consumer's folder, and asserts that the callee heard the whole message and no other sound. */
export async function expectHeardCall(consumer: Consumer, runtime: RuntimeName, program?: string): Promise<void> {
  const audioBase64 = toneWav({ hz: TONE_HZ, ms: TONE_MS, sampleRate: 16_000 }).toString("base64");
  const outcome = await consumer.placeCall(runtime, { type: "FIXED_AUDIO", audio: { audioBase64 } }, program);
  expect(outcome).toEqual({ status: "COMPLETED", reason: "message_played", heardRatio: 1 });
  const { sampleRate, samples } = consumer.heard();
  const { from, to } = loudPart({ sampleRate, samples });
  expect(Math.abs(((to - from) / sampleRate) * 1000 - TONE_MS)).toBeLessThan(20);
  expect(toneShare({ sampleRate, samples: samples.subarray(from, to) }, TONE_HZ)).toBeGreaterThan(0.99);
}
