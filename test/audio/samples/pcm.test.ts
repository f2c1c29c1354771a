import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  concatPcm,
  downMix,
  msToSamples,
  pcmFromBytes,
  pcmFromFloat,
  pcmToBytes,
  peak,
  rms,
  samplesToMs,
  toSample,
} from "../../../src/audio/samples/pcm.ts";
import { PcmByteStream } from "../../../src/audio/samples/pcm-byte-stream.ts";
import { fuzz } from "../../support/fuzz.ts";

test("samples are little-endian bytes, at any offset", () => {
  expect(pcmToBytes(Int16Array.of(1, -2, 32767, -32768))).toEqual(Uint8Array.of(1, 0, 0xfe, 0xff, 0xff, 0x7f, 0, 0x80));
  expect(pcmFromBytes(Uint8Array.of(9, 1, 0, 0xfe, 0xff, 7).subarray(1))).toEqual(Int16Array.of(1, -2));
});

fuzz(
  "a byte stream cut anywhere yields the same samples",
  fc.property(fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 20 }), (pieces) => {
    const stream = new PcmByteStream();
    const samples = concatPcm(pieces.map((piece) => stream.push(piece)));
    expect(samples).toEqual(pcmFromBytes(Uint8Array.from(pieces.flatMap((piece) => [...piece]))));
  }),
);

test("mixing averages the channels", () => {
  expect(downMix(Int16Array.of(100, 300, -5, -5, 9), 2)).toEqual(Int16Array.of(200, -5));
  const leftChannel = Float32Array.of(0.5, 1, Number.NaN);
  expect(pcmFromFloat([leftChannel, leftChannel])).toEqual(Int16Array.of(16384, 32767, 0));
  expect(pcmFromFloat([])).toEqual(new Int16Array(0));
});

test("a sample is rounded and clipped", () => {
  expect([1.4, -1.6, 40_000, -40_000, Number.NaN, Infinity].map(toSample)).toEqual([1, -2, 32767, -32768, 0, 32767]);
});

test("time and samples convert into each other", () => {
  expect(msToSamples(20, 8000)).toBe(160);
  expect(samplesToMs(240, 48_000)).toBe(5);
});

test("peak and RMS measure the level", () => {
  expect(peak(Int16Array.of(3, -32768, 5))).toBe(32768);
  expect(rms(Int16Array.of(3, -3, 3, -3))).toBe(3);
  expect(peak(new Int16Array(0)) + rms(new Int16Array(0))).toBe(0);
});
