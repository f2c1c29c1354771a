import fc from "fast-check";
import { expect, test } from "vitest";
import { WavPeaks } from "../../../adapters/console/app/pages/call/wav-peaks.ts";

/** A WAV file of 16-bit PCM whose channels are interleaved. */
function wav(samples: readonly number[], channels: number, extraChunk: readonly number[] = []): Uint8Array {
  const text = (value: string) => [...value].map((char) => char.charCodeAt(0));
  const u16 = (value: number) => [value & 255, (value >> 8) & 255];
  const u32 = (value: number) => [...u16(value), ...u16(value >>> 16)];
  const extraBytes =
    extraChunk.length === 0
      ? []
      : [...text("LIST"), ...u32(extraChunk.length), ...extraChunk, ...(extraChunk.length % 2 ? [0] : [])];
  return Uint8Array.from([
    ...[...text("RIFF"), ...u32(36 + extraBytes.length + 2 * samples.length), ...text("WAVEfmt "), ...u32(16)],
    ...[...u16(1), ...u16(channels), ...u32(8_000), ...u32(16_000 * channels), ...u16(2 * channels), ...u16(16)],
    ...extraBytes,
    ...[...text("data"), ...u32(2 * samples.length), ...samples.flatMap((sample) => u16(sample & 0xffff))],
  ]);
}

const cutPieces = (file: Uint8Array, sizes: readonly number[]): Uint8Array[] => {
  const pieces: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < file.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    pieces.push(file.subarray(at, at + size));
    at += size;
  }
  return pieces;
};

test("each part has the loudest sample of its channel, however the file is cut", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2 }),
      fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 200 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat(255), { maxLength: 9 }),
      (channels, samples, parts, sizes, list) => {
        const wholeFrames = samples.slice(0, samples.length - (samples.length % channels));
        const file = wav(wholeFrames, channels, list);
        const peaks = new WavPeaks(parts, file.length);
        for (const piece of cutPieces(file, sizes)) peaks.push(piece);
        const frames = wholeFrames.length / channels;
        expect(peaks.head).toEqual({ sampleRate: 8_000, channels, frames });
        const expected = Array.from({ length: channels }, () => new Float32Array(parts));
        for (const [index, sample] of wholeFrames.entries()) {
          const part = Math.floor((Math.floor(index / channels) * parts) / frames);
          const channel = expected[index % channels]!;
          channel[part] = Math.max(channel[part]!, Math.abs(sample) / 32_768);
        }
        expect(peaks.peaks).toEqual(expected);
        expect(peaks.progress).toBe(frames === 0 ? 0 : 1);
      },
    ),
  );
});

test("bytes of other files are refused with a reason", () => {
  const refusal = /^the (?:file|audio) /;
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 6_000 }), fc.option(fc.nat(44)), (noise, at) => {
      const file = at === null ? noise : wav([1, 2, 3, 4], 2).slice();
      if (at !== null) file.set(noise.subarray(0, Math.max(0, 44 - at)), at);
      const peaks = new WavPeaks(10, file.length);
      try {
        peaks.push(file);
      } catch (error) {
        expect((error as Error).message).toMatch(refusal);
      }
      expect(peaks.peaks.every((channel) => channel.length === 10)).toBe(true);
    }),
  );
});

test("a file shorter than its header claims has the shape of its samples", () => {
  const file = wav([100, 200, 16_384, 400], 1);
  const peaks = new WavPeaks(2, file.length - 2);
  peaks.push(file.subarray(0, file.length - 2));
  expect(peaks.head?.frames).toBe(3);
  expect([...(peaks.peaks[0] ?? [])]).toEqual([200 / 32_768, 0.5]);
});
