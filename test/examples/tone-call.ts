import { expect } from "vitest";
import type { Client } from "../support/server-client.ts";
import { loudPart, type Sound, toneShare, toneWav } from "../support/server-sound.ts";

const TONE = { hz: 1000, ms: 1200 };
/** Duration that a tone may lose at its edges in playback, ms. */
const EDGE_MS = 40;

/** An audio file with a tone. */
export const TONE_WAV: Buffer = toneWav(TONE);

/** Links an instance, plays the tone to a callee and waits for the end of the call; returns its id. */
export async function placeToneCall(client: Client): Promise<string> {
  const { id: instanceId } = await client.activeInstance();
  const audio = { audioBase64: TONE_WAV.toString("base64") };
  const { id } = await client.call(instanceId, { type: "FIXED_AUDIO", audio });
  const { status, outcome } = await client.waitForCall(id);
  expect({ status, reason: outcome?.reason, heard_ratio: outcome?.heard_ratio }).toEqual({
    status: "COMPLETED",
    reason: "message_played",
    heard_ratio: 1,
  });
  return id;
}

/** Expects that the callee has heard the whole tone and no other sound. */
export function expectTone(sound: Sound): void {
  const { from, to } = loudPart(sound);
  const audiblePart = { ...sound, samples: sound.samples.subarray(from, to) };
  expect((1000 * audiblePart.samples.length) / sound.sampleRate).toBeGreaterThan(TONE.ms - EDGE_MS);
  expect((1000 * audiblePart.samples.length) / sound.sampleRate).toBeLessThan(TONE.ms + EDGE_MS);
  expect(toneShare(audiblePart, TONE.hz)).toBeGreaterThan(0.95);
}
