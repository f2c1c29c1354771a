import { describe, expect, test } from "vitest";
import { LeadingSilence } from "../../../adapters/speech/joined-speech.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";

const RATE = 8000;
const MAX_SILENCE_SAMPLES = 320;
const sound = tone(400, 100, RATE, 9000);

function shortenSilence(samples: Int16Array, pieceLength: number): Int16Array {
  const leadingSilence = new LeadingSilence(RATE);
  const pieces: Int16Array[] = [];
  for (let offset = 0; offset < samples.length; offset += pieceLength)
    pieces.push(leadingSilence.push(samples.subarray(offset, offset + pieceLength)));
  return concatPcm(pieces);
}

describe("leading silence", () => {
  test.each([1, 7, 160, 320, 1000, 100_000])(
    "is shortened to 40 ms if it arrives in pieces of %i samples",
    (length) => {
      const silence = new Int16Array(2000);
      const output = shortenSilence(concatPcm([silence, sound, silence, sound]), length);
      // A sine starts at zero, so its first sample is silence too.
      expect(output.length).toBe(MAX_SILENCE_SAMPLES - 1 + 2 * sound.length + silence.length);
      expect(output.subarray(MAX_SILENCE_SAMPLES - 1)).toEqual(concatPcm([sound, silence, sound]));
    },
  );

  test.each([1, 7, 1000])("is kept if shorter than 40 ms, in pieces of %i samples", (length) => {
    const input = concatPcm([new Int16Array(100), sound]);
    expect(shortenSilence(input, length)).toEqual(input);
  });

  test("is dropped if no sound follows", () => {
    expect(shortenSilence(new Int16Array(5000).fill(20), 160)).toHaveLength(0);
  });
});
