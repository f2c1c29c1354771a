import * as fc from "fast-check";
import { expect } from "vitest";
import { LINE_TONES } from "../../../src/domain/tones/line-tones.ts";
import { ToneClassifier } from "../../../src/domain/tones/tone-classifier.ts";
import { fuzz } from "../../support/fuzz.ts";

const hertz = fc.oneof(
  fc.constantFrom(350, 400, 425, 440, 450, 480, 620, 950, 1_100, 1_400, 1_800, 2_100),
  fc.double({ min: 0, max: 4_000, noNaN: true }),
);
const part = fc.record({
  hz: hertz,
  otherHz: fc.constantFrom(0, 0, 440, 450, 480, 620),
  ms: fc.nat({ max: 4_000 }),
  pauseMs: fc.oneof(fc.nat({ max: 5_000 }), fc.constant(Number.POSITIVE_INFINITY)),
  silentPause: fc.boolean(),
  hasSpoken: fc.boolean(),
});

fuzz(
  "any tones are reported in order: each known tone once, and a beep at most once for each tone",
  fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
    const tones: string[] = [];
    const beeps: number[] = [];
    const classifier = new ToneClassifier({
      onBeep: (hz, atMs) => {
        expect(hz).toBeGreaterThan(390);
        expect(hz).toBeLessThanOrEqual(2_300);
        beeps.push(atMs);
      },
      onTone: ({ tone, hz, atMs }) => {
        expect(LINE_TONES).toContain(tone);
        expect(hz.length).toBeGreaterThan(0);
        expect(atMs).toBeGreaterThanOrEqual(0);
        tones.push(tone);
      },
    });
    let clock = 0;
    for (const { hz, otherHz, ms, pauseMs, silentPause, hasSpoken } of parts) {
      for (let at = 0; at < Math.min(pauseMs, 5_000); at += 20, clock += 20) classifier.addFrame(0, 0, 0, 20);
      const atMs = clock;
      for (let at = 0; at < ms; at += 20, clock += 20) classifier.addFrame(hz, otherHz, at, 20);
      classifier.addBurst({ hz, otherHz, atMs, ms, receivedMs: ms, pauseMs, isPauseSilent: silentPause }, hasSpoken);
    }
    for (let at = 0; at < 6_000; at += 20) classifier.addFrame(0, 0, 0, 20);
    expect(new Set(tones).size).toBe(tones.length);
    expect(new Set(beeps).size).toBe(beeps.length);
    expect(beeps.length).toBeLessThanOrEqual(parts.length);
    expect(classifier.isSuspicious, "settled after six seconds of silence").toBe(false);
  }),
);
