import { describe, expect, test } from "vitest";
import {
  ALAW_LEVELS,
  ALAW_SILENCE,
  alawCode,
  decodeAlaw,
  decodeMulaw,
  encodeAlaw,
  encodeMulaw,
  MULAW_LEVELS,
  MULAW_SILENCE,
  mulawCode,
} from "../../../src/audio/samples/g711-companding.ts";
import { rms } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";

const codes = Uint8Array.from({ length: 256 }, (_, code) => code);

/** G.711 table 2a: segments of 16 equal steps whose size doubles, at 14 bits; here at 16. */
function mulawByFormula(code: number): number {
  const segment = 7 - ((code >> 4) & 7);
  const step = 15 - (code & 15);
  const magnitude = 4 * ((2 * step + 33) * 2 ** segment - 33);
  return code < 128 ? -magnitude : magnitude;
}

/** G.711 table 1a: the same at 13 bits, with even bits inverted and the lowest two segments alike; here at 16. */
function alawByFormula(code: number): number {
  const invertedCode = code ^ 0x55;
  const segment = (invertedCode >> 4) & 7;
  const step = invertedCode & 15;
  const magnitude = 8 * (segment === 0 ? 2 * step + 1 : (2 * step + 33) * 2 ** (segment - 1));
  return invertedCode < 128 ? -magnitude : magnitude;
}

describe.each([
  { law: "mu-law", levels: MULAW_LEVELS, formula: mulawByFormula, code: mulawCode, decode: decodeMulaw },
  { law: "A-law", levels: ALAW_LEVELS, formula: alawByFormula, code: alawCode, decode: decodeAlaw },
])("G.711 $law", ({ levels, formula, code, decode }) => {
  test("every code decodes to the recommended level", () => {
    expect(Array.from(decode(codes), (level) => level + 0)).toEqual(Array.from(codes, (c) => formula(c) + 0));
  });

  test("every sample encodes to a near level", () => {
    const sortedLevels = Array.from(levels).sort((a, b) => a - b);
    let missCount = 0;
    let nearestCount = 0;
    for (let sample = -32768; sample <= 32767; sample++) {
      const level = levels[code(sample)]!;
      // If level and sample are at most one level apart, no other level is nearer.
      const closerCount = countCloser(sortedLevels, sample, Math.abs(level - sample));
      if (closerCount === 0) nearestCount++;
      if (closerCount > 1) missCount++;
    }
    expect(missCount).toBe(0);
    expect(nearestCount / 65536).toBeGreaterThan(0.95);
  });

  test("decoding and encoding again keeps the level", () => {
    for (const level of levels) expect(levels[code(level)]).toBe(level);
  });
});

test("silence encodes to the silence codes", () => {
  expect(encodeMulaw(new Int16Array(2))).toEqual(Uint8Array.of(MULAW_SILENCE, MULAW_SILENCE));
  expect(encodeAlaw(new Int16Array(2))).toEqual(Uint8Array.of(ALAW_SILENCE, ALAW_SILENCE));
});

test("a tone stays 35 dB above the codec's noise", () => {
  const original = tone(1000, 200, 8000, 12_000);
  for (const decodedSamples of [decodeMulaw(encodeMulaw(original)), decodeAlaw(encodeAlaw(original))]) {
    const noise = original.map((sample, i) => sample - decodedSamples[i]!);
    expect(20 * Math.log10(rms(original) / rms(noise))).toBeGreaterThan(35);
  }
});

test("coding into existing arrays allocates no new ones", () => {
  const samples = tone(440, 20, 8000, 8000);
  const wire = new Uint8Array(160);
  const decoded = new Int16Array(160);
  expect(encodeMulaw(samples, wire)).toBe(wire);
  expect(decodeMulaw(wire, decoded)).toBe(decoded);
  expect(encodeAlaw(samples, wire)).toBe(wire);
  expect(decodeAlaw(wire, decoded)).toBe(decoded);
});

function countCloser(sortedLevels: readonly number[], sample: number, distance: number): number {
  let low = 0;
  let high = sortedLevels.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sortedLevels[middle]! <= sample - distance) low = middle + 1;
    else high = middle;
  }
  let closerCount = 0;
  const seenLevels = new Set<number>();
  for (let i = low; i < sortedLevels.length && sortedLevels[i]! < sample + distance; i++) {
    if (!seenLevels.has(sortedLevels[i]!)) closerCount++;
    seenLevels.add(sortedLevels[i]!);
  }
  return closerCount;
}
