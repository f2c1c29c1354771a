import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AudioFormatError } from "../../../src/audio/audio-format-error.ts";
import { concatPcm, pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { decodeWav, WavDecoder } from "../../../src/audio/wav/wav.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import type { DecodedAudio, PcmChunk } from "../../../src/ports/media.ts";
import { fuzz } from "../../support/fuzz.ts";
import { buildWav, chunk, concatBytes, letters, type WavRecipe } from "./wav-files.ts";

const LIST = chunk("LIST", letters("INFOISFT\x05\x00\x00\x00odd!\x00")); // 17 bytes and a pad byte
const mono = Array.from({ length: 500 }, (_, i) => [0.8 * Math.sin(i / 9)]);

const FORMATS: readonly { name: string; tag: number; bits: number; tolerance: number }[] = [
  { name: "8-bit PCM", tag: 1, bits: 8, tolerance: 128 },
  { name: "16-bit PCM", tag: 1, bits: 16, tolerance: 0 },
  { name: "24-bit PCM", tag: 1, bits: 24, tolerance: 1 },
  { name: "32-bit PCM", tag: 1, bits: 32, tolerance: 1 },
  { name: "32-bit float", tag: 3, bits: 32, tolerance: 0 },
  { name: "64-bit float", tag: 3, bits: 64, tolerance: 0 },
  { name: "A-law", tag: 6, bits: 8, tolerance: 600 },
  { name: "mu-law", tag: 7, bits: 8, tolerance: 600 },
];

function decodeInPieces(bytes: Uint8Array, size: number): DecodedAudio {
  const decoder = new WavDecoder({ size: bytes.length });
  const pieces: PcmChunk[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(...decoder.push(bytes.subarray(at, at + size)));
  pieces.push(...decoder.finish());
  const sampleRate = decoder.format?.sampleRate ?? 0;
  if (pieces.some((piece) => piece.sampleRate !== sampleRate))
    throw new AudioFormatError("malformed", "the WAV file has parts of several sample rates");
  const samples = concatPcm(pieces.map((piece) => piece.samples));
  return { sampleRate, samples, truncated: decoder.truncated };
}

function refusal(bytes: Uint8Array): AudioFormatError {
  try {
    decodeWav(bytes);
  } catch (error) {
    if (error instanceof AudioFormatError) return error;
    throw error;
  }
  throw new Error("the file was decoded");
}

describe.each(FORMATS)("a WAV file of $name", ({ tag, bits, tolerance }) => {
  const variants: [string, WavRecipe][] = [
    ["one channel", { tag, bits, frames: mono }],
    ["six channels", { tag, bits, channels: 6, frames: mono.map(([v = 0]) => [v, v, v, v, v, v]) }],
    ["extensible", { tag, bits, frames: mono, extensible: true }],
    ["RF64", { tag, bits, frames: mono, container: "RF64" }],
    ["between other chunks", { tag, bits, frames: mono.slice(0, 333), before: [LIST], after: [LIST] }],
    ["a streamed length of 0", { tag, bits, frames: mono, dataSize: 0 }],
    ["a streamed length of all ones", { tag, bits, frames: mono, dataSize: 0xffff_ffff }],
  ];

  test.each(variants)("with %s decodes to the values written", (_, recipe) => {
    const audio = decodeWav(buildWav({ ...recipe, sampleRate: 22_050 }));
    expect(audio.sampleRate).toBe(22_050);
    expect(audio.truncated).toBe(false);
    expect(audio.samples.length).toBe(recipe.frames.length);
    for (const [i, sample] of audio.samples.entries()) {
      expect(Math.abs(sample - Math.round((mono[i]?.[0] ?? 0) * 32768))).toBeLessThanOrEqual(tolerance);
    }
  });

  test.each(variants)("with %s decodes the same at once and in pieces", (_, recipe) => {
    const bytes = buildWav(recipe);
    const expected = decodeWav(bytes);
    for (const size of [1, 7, 1000]) expect(decodeInPieces(bytes, size)).toEqual(expected);
  });
});

test("channels are averaged, so the level stays the same", () => {
  const leftOnly = mono.map(([value = 0]) => [value, 0]);
  const { samples } = decodeWav(buildWav({ tag: 1, bits: 16, channels: 2, frames: leftOnly }));
  const bothChannels = decodeWav(buildWav({ tag: 1, bits: 16, channels: 2, frames: mono.map(([v = 0]) => [v, v]) }));
  const singleFile = decodeWav(buildWav({ tag: 1, bits: 16, frames: mono }));
  expect(bothChannels.samples).toEqual(singleFile.samples);
  for (const [i, sample] of samples.entries())
    expect(Math.abs(sample - singleFile.samples[i]! / 2)).toBeLessThanOrEqual(0.5);
});

test("floats are clipped, and NaN is silence", () => {
  const frames = [[2], [-2], [Number.NaN], [Infinity], [-Infinity], [1], [-1]];
  const { samples } = decodeWav(buildWav({ tag: 3, bits: 32, frames }));
  expect(Array.from(samples)).toEqual([32767, -32768, 0, 32767, -32768, 32767, -32768]);
});

test("a data chunk longer than the file is played and flagged as truncated", () => {
  const bytes = buildWav({ tag: 1, bits: 16, frames: mono, dataSize: 5000 });
  expect(decodeWav(bytes)).toEqual({ ...decodeWav(buildWav({ tag: 1, bits: 16, frames: mono })), truncated: true });
  expect(decodeInPieces(bytes, 7).truncated).toBe(true);
});

test("an incomplete frame at the end is dropped", () => {
  const bytes = buildWav({ tag: 1, bits: 16, channels: 2, frames: mono.map(([v = 0]) => [v, v]) });
  const truncatedAudio = decodeWav(bytes.subarray(0, -1));
  expect(truncatedAudio.samples.length).toBe(499);
  expect(truncatedAudio.truncated).toBe(true);
});

test("a file without samples decodes to none", () => {
  expect(decodeWav(buildWav({ tag: 1, bits: 16, frames: [] }))).toEqual({
    sampleRate: 8000,
    samples: new Int16Array(0),
    truncated: false,
  });
});

test("the format is known before the first sample", () => {
  const decoder = new WavDecoder();
  decoder.push(buildWav({ tag: 3, bits: 32, channels: 2, frames: [] }));
  expect(decoder.format).toEqual({
    encoding: "float",
    bitsPerSample: 32,
    containerBytes: 4,
    channels: 2,
    channelMask: 0,
    sampleRate: 8000,
  });
});

describe("a written WAV header", () => {
  const samples = tone(440, 100, 16_000, 9000);

  test("makes a file that decodes to its samples", () => {
    const file = concatBytes([wavHeader({ sampleRate: 16_000, samples: samples.length }), pcmToBytes(samples)]);
    expect(decodeWav(file)).toEqual({ sampleRate: 16_000, samples, truncated: false });
  });

  test("without a length declares a stream", () => {
    const file = concatBytes([wavHeader({ sampleRate: 16_000 }), pcmToBytes(samples)]);
    expect(decodeWav(file)).toEqual({ sampleRate: 16_000, samples, truncated: false });
  });

  test("is refused for more samples than it can declare", () => {
    expect(() => wavHeader({ sampleRate: 8000, samples: 2 ** 31 })).toThrow(RangeError);
  });
});

test.each([
  [0x02, 4, /Microsoft ADPCM/],
  [0x11, 4, /IMA ADPCM/],
  [0x31, 0, /GSM 6\.10/],
  [0x55, 0, /MP3 inside a WAV file/],
  [0x1234, 16, /format tag 0x1234/],
])("format tag %i is refused by name", (tag, bits, message) => {
  const bytes = buildWav({ tag, bits, frames: [] });
  expect(refusal(bytes)).toMatchObject({
    kind: "unsupported",
    code: "audio_unsupported",
    message: expect.stringMatching(message),
  });
});

test.each<[string, Uint8Array, string, RegExp]>([
  ["an empty file", new Uint8Array(0), "not_audio", /is empty/],
  ["other bytes", new Uint8Array(100), "not_audio", /does not begin with/],
  ["a RIFF file of another type", concatBytes([letters("RIFF\x04\x00\x00\x00AVI ")]), "not_audio", /WAVE/],
  ["big-endian WAV", concatBytes([letters("RIFX\x00\x00\x00\x04WAVE")]), "unsupported", /big-endian/],
  ["9 channels", buildWav({ tag: 1, bits: 16, channels: 9, frames: [] }), "unsupported", /9 channels/],
  ["a format without channels", buildWav({ tag: 1, bits: 16, channels: 0, frames: [] }), "unsupported", /0 channels/],
  ["3999 Hz", buildWav({ tag: 1, bits: 16, sampleRate: 3999, frames: [] }), "unsupported", /3999 Hz/],
  ["192001 Hz", buildWav({ tag: 1, bits: 16, sampleRate: 192_001, frames: [] }), "unsupported", /192001 Hz/],
  ["40-bit samples", buildWav({ tag: 1, bits: 40, frames: [] }), "unsupported", /40-bit pcm/],
  ["16-bit float", buildWav({ tag: 3, bits: 16, frames: [] }), "unsupported", /16-bit float/],
  [
    "an endless fmt chunk",
    concatBytes([letters("RIFF\0\0\0\0WAVEfmt \xff\xff\xff\xff"), new Uint8Array(99)]),
    "malformed",
    /4294967295/,
  ],
  [
    "a short fmt chunk",
    concatBytes([letters("RIFF\0\0\0\0WAVEfmt \x0e\0\0\0"), new Uint8Array(99)]),
    "malformed",
    /14 bytes/,
  ],
  [
    "data before its format",
    concatBytes([letters("RIFF\0\0\0\0WAVEdata\x04\0\0\0abcd")]),
    "malformed",
    /before its fmt/,
  ],
  [
    "a file that ends before its data",
    buildWav({ tag: 1, bits: 16, frames: [] }).subarray(0, 36),
    "malformed",
    /ends after 36 bytes/,
  ],
  [
    "a LIST chunk past the end",
    concatBytes([letters("RIFF\0\0\0\0WAVELIST\xff\xff\xff\xffabc")]),
    "malformed",
    /ends after 23 bytes/,
  ],
])("a WAV file is refused: %s", (_, bytes, kind, message) => {
  expect(refusal(bytes)).toMatchObject({ kind, message: expect.stringMatching(message) });
});

test("an extensible format without room for its sub-format is refused", () => {
  const fmt = buildWav({ tag: 0xfffe, bits: 16, frames: [] });
  expect(refusal(fmt)).toMatchObject({
    kind: "malformed",
    message: expect.stringMatching(/extensible fmt chunk of 16/),
  });
});

test.each([0, 1, 4, 7, 16])("16-bit samples ignore the block size %i", (blockSize) => {
  const bytes = buildWav({ tag: 1, bits: 16, frames: mono });
  const expected = decodeWav(bytes);
  const view = new DataView(bytes.buffer);
  view.setUint16(32, blockSize, true);
  expect(decodeWav(bytes)).toEqual(expected);
  view.setUint32(28, 8000 * blockSize, true);
  expect(decodeWav(bytes)).toEqual(expected);
});

/** Real files with some bytes overwritten, cut anywhere: nearly valid input finds most faults in parsers. */
const damagedFile = fc
  .record({
    recipe: fc.record({
      tag: fc.constantFrom(1, 3, 6, 7, 2, 0xfffe),
      bits: fc.constantFrom(8, 16, 24, 32, 64),
      channels: fc.integer({ min: 0, max: 9 }),
      frames: fc.constantFrom(
        [],
        mono.slice(0, 3).map(([v = 0]) => [v, v]),
      ),
      extensible: fc.boolean(),
      container: fc.constantFrom("RIFF", "RF64"),
      before: fc.constantFrom([], [LIST]),
    }),
    edits: fc.array(fc.tuple(fc.nat({ max: 120 }), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
    tail: fc.uint8Array({ maxLength: 64 }),
    cut: fc.nat({ max: 200 }),
  })
  .map(({ recipe, edits, tail, cut }) => {
    const bytes = concatBytes([buildWav(recipe as WavRecipe), tail]);
    for (const [at, value] of edits) if (at < bytes.length) bytes[at] = value;
    return bytes.subarray(0, Math.max(0, bytes.length - (cut % (bytes.length + 1)) * (cut % 2)));
  });

const hostileBytes = fc.oneof(
  { arbitrary: damagedFile, weight: 4 },
  { arbitrary: fc.uint8Array({ maxLength: 2000 }), weight: 1 },
);

function outcome(decode: () => DecodedAudio): DecodedAudio | string {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof AudioFormatError)) throw error;
    return error.message;
  }
}

fuzz(
  "hostile bytes give the same result at once and in pieces",
  fc.property(hostileBytes, fc.integer({ min: 1, max: 50 }), (bytes, size) => {
    const expected = outcome(() => decodeWav(bytes));
    if (typeof expected !== "string") {
      expect(expected.samples.length).toBeLessThanOrEqual(bytes.length);
      expect(expected.sampleRate).toBeGreaterThanOrEqual(4000);
      expect(expected.sampleRate).toBeLessThanOrEqual(192_000);
    }
    expect(outcome(() => decodeInPieces(bytes, size))).toEqual(expected);
  }),
);
