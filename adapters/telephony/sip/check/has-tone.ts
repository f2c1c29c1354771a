import { toneShare } from "../../../../src/audio/tone.ts";

const PIECE_MS = 100;

/**
 * Whether most of a sound is a tone. Jitter buffers on the way shift its phase, so each piece of 100 ms is looked at by
 * itself.
 */
export function hasTone(sound: Int16Array, hz: number, sampleRate: number): boolean {
  const size = (sampleRate * PIECE_MS) / 1_000;
  const pieces = Math.floor(sound.length / size);
  let found = 0;
  for (let at = 0; at < pieces; at++)
    if (toneShare(sound.subarray(at * size, (at + 1) * size), hz, sampleRate) > 0.5) found++;
  return found > pieces / 2;
}
