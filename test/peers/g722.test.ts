import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createG722 } from "../../adapters/sip-stack/media/codecs/g722.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import { random } from "../support/random.ts";
import { folder, run, withTools } from "./tools.ts";

const RATE = 16_000;
const nextRandom = random(9);
const noise = (level: (i: number) => number): Int16Array =>
  Int16Array.from({ length: 4 * RATE }, (_, i) => Math.round((2 * nextRandom() - 1) * level(i)));

/** Sounds that exercise a codec in every way: one band, the other, both, quick changes, full scale. */
const SOUNDS: readonly (readonly [name: string, samples: Int16Array])[] = [
  ["440 Hz", tone(440, 4_000, RATE, 8_000)],
  ["5,000 Hz", tone(5_000, 4_000, RATE, 8_000)],
  ["noise that swells", noise((i) => 15_000 * (1 + Math.sin(i / 3_000)))],
  ["noise of full scale", noise(() => 32_767)],
  ["a square of full scale", Int16Array.from({ length: 4 * RATE }, (_, i) => ((i >> 5) & 1 ? 32_767 : -32_768))],
];
const FRAMES = ["-f", "s16le", "-ar", String(RATE), "-ac", "1"];

/** Output of our encoder, in packets of 20 ms. */
function encode(samples: Int16Array): Buffer {
  const codec = createG722();
  const bytes = Buffer.alloc(samples.length / 2);
  for (let offset = 0; offset < samples.length; offset += 320)
    codec.encode(samples.subarray(offset, offset + 320), bytes, offset / 2);
  return bytes;
}

function decode(bytes: Uint8Array): Int16Array {
  const codec = createG722();
  const samples = new Int16Array(2 * bytes.length);
  for (let offset = 0; offset < bytes.length; offset += 160) codec.decode(bytes, offset, 160, samples, 2 * offset);
  return samples;
}

const bytesOf = (samples: Int16Array): Buffer => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);

withTools("FFmpeg's G.722", ["ffmpeg"], () => {
  const files = folder();
  const ffmpeg = (...args: readonly string[]): string => run("ffmpeg", "-v", "error", "-y", ...args);

  /** Expects that both decoders return the same samples. */
  function expectSameDecoding(bytes: Buffer): void {
    const [codedFile, decodedFile] = [join(files, "sound.g722"), join(files, "decoded.raw")];
    writeFileSync(codedFile, bytes);
    ffmpeg("-f", "g722", "-i", codedFile, "-f", "s16le", decodedFile);
    expect(readFileSync(decodedFile).equals(bytesOf(decode(bytes)))).toBe(true);
  }

  test.each(SOUNDS)("encodes and decodes %s bit by bit as we do", (_, samples) => {
    const [rawFile, codedFile] = [join(files, "sound.raw"), join(files, "theirs.g722")];
    writeFileSync(rawFile, bytesOf(samples));
    ffmpeg(...FRAMES, "-i", rawFile, "-c:a", "g722", "-f", "g722", codedFile);
    expect(readFileSync(codedFile).equals(encode(samples))).toBe(true);
    expectSameDecoding(encode(samples));
  });

  test("decodes arbitrary bytes as we do", () => {
    expectSameDecoding(Buffer.from(Array.from({ length: 160_000 }, () => Math.floor(256 * nextRandom()))));
  });
});
