import * as fc from "fast-check";
import { expect } from "vitest";
import { isKnownChunkAt, isWaveAt, RIFF_BYTES, waveIn } from "../../../src/audio/wav/wav-chunks.ts";
import { fuzz } from "../../support/fuzz.ts";
import { concatBytes, letters } from "./wav-files.ts";

const pieces = fc.array(
  fc.oneof(
    fc.uint8Array({ maxLength: 9 }),
    fc
      .constantFrom("RIFF\u0004\u0000\u0000\u0000WAVEfmt ", "RF64WAVEWAVEdata", "RIFFRIFF", "WAVE", "WAV", "E")
      .map(letters),
  ),
  { maxLength: 12 },
);

fuzz(
  "the first WAV file is found at any position",
  fc.property(pieces, (parts) => {
    const bytes = concatBytes(parts);
    const isFile = (at: number) => isWaveAt(bytes, at) && isKnownChunkAt(bytes, at + RIFF_BYTES);
    expect(waveIn(bytes)).toBe(Array.from(bytes, (_, at) => at).find(isFile));
  }),
);
