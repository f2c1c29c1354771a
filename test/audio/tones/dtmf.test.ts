import { describe, expect, test } from "vitest";
import { decodeMulaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { concatPcm, rms } from "../../../src/audio/samples/pcm.ts";
import { DtmfDetector, dtmfTones } from "../../../src/audio/tones/dtmf.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { SAMPLE } from "../../../src/ports/media.ts";
import { random } from "../../support/random.ts";
import { babble, sum, whiteNoise } from "../noise.ts";

const DIGITS = "0123456789ABCD*#";

function detect(samples: Int16Array, sampleRate = 8000, frameLength = 160): string {
  let digits = "";
  const detector = new DtmfDetector(sampleRate, (digit) => {
    digits += digit;
  });
  for (let at = 0; at < samples.length; at += frameLength) detector.push(samples.subarray(at, at + frameLength));
  return digits;
}

/** Through the telephone network: noise at a distance from the tone's own level, then mu-law and back. */
function addNoise(samples: Int16Array, toneRms: number, snrDb: number, seed: number): Int16Array {
  const noise = whiteNoise(samples.length, toneRms / 10 ** (snrDb / 20), seed);
  return decodeMulaw(encodeMulaw(sum(samples, noise)));
}

describe.each([8000, 16_000])("the DTMF detector at %i Hz", (sampleRate) => {
  test.each([10, 20, 30, 40])("detects every digit once at %i dB over noise, after mu-law", (snrDb) => {
    for (const levelDb of [-10, -25]) {
      for (const [toneMs, pauseMs] of [
        [40, 40],
        [60, 100],
        [100, 40],
        [100, 100],
      ] as const) {
        for (let run = 0; run < 3; run++) {
          const padding = new Int16Array(400 + 37 * run);
          const tones = dtmfTones(DIGITS, { sampleRate, toneMs, pauseMs, levelDb });
          // The tone's own level, without the pauses.
          const toneRms = rms(tones.subarray(0, (toneMs * sampleRate) / 1000));
          const signal = addNoise(concatPcm([padding, tones, padding]), toneRms, snrDb, run + snrDb);
          expect(detect(signal, sampleRate), `${toneMs}/${pauseMs} ms, ${levelDb} dB`).toBe(DIGITS);
        }
      }
    }
  });

  test("detects no digit in noise of any level", () => {
    for (const level of [100, 1000, 5000, 15_000]) {
      expect(detect(whiteNoise(sampleRate * 20, level, level), sampleRate)).toBe("");
    }
  });

  test("detects no digit in single or dial tones", () => {
    for (let hz = 300; hz < 2000; hz += 23) expect(detect(tone(hz, 200, sampleRate, 12_000), sampleRate)).toBe("");
    for (const [a, b] of [
      [350, 440],
      [440, 480],
      [480, 620],
      [697, 770],
      [1209, 1336],
    ] as const) {
      const pair = sum(tone(a, 1000, sampleRate, 9000), tone(b, 1000, sampleRate, 9000));
      expect(detect(pair, sampleRate), `${a}+${b} Hz`).toBe("");
    }
  });

  test("detects no digit in minutes of simulated speech", () => {
    for (let seed = 0; seed < 2; seed++) expect(detect(babble(60_000, sampleRate, 3000, seed), sampleRate)).toBe("");
  });
});

test("the DTMF detector accepts frames of any size", () => {
  const tones = concatPcm([new Int16Array(55), dtmfTones("15993", { sampleRate: 8000, toneMs: 50, pauseMs: 50 })]);
  for (const length of [1, 7, 80, 480, 100_000]) expect(detect(tones, 8000, length)).toBe("15993");
});

test("a held digit counts once, and a repeated one twice", () => {
  expect(detect(dtmfTones("5", { sampleRate: 8000, toneMs: 3000 }))).toBe("5");
  expect(detect(dtmfTones("55", { sampleRate: 8000, toneMs: 45, pauseMs: 45 }))).toBe("55");
  expect(detect(dtmfTones("59", { sampleRate: 8000, toneMs: 60, pauseMs: 0 })), "without a pause").toBe("59");
});

test("a click within a digit does not double it", () => {
  const longTone = dtmfTones("7", { sampleRate: 8000, toneMs: 400 });
  longTone.set(whiteNoise(40, 20_000, 3), 1600);
  expect(detect(longTone)).toBe("7");
});

test("the levels of the two tones may differ by 8 to 9 dB", () => {
  const pair = (lowDb: number, highDb: number) =>
    sum(tone(770, 200, 8000, 8000 * 10 ** (lowDb / 20)), tone(1336, 200, 8000, 8000 * 10 ** (highDb / 20)));
  expect(detect(pair(0, -8))).toBe("5");
  expect(detect(pair(-7, 0))).toBe("5");
  expect(detect(pair(0, -11))).toBe("");
  expect(detect(pair(-10, 0))).toBe("");
});

test("a digit has the time of its start, within one block", () => {
  const detections: [string, number][] = [];
  const detector = new DtmfDetector(8000, (digit, atMs) => detections.push([digit, atMs]));
  detector.push(concatPcm([new Int16Array(8000), dtmfTones("42", { sampleRate: 8000 })]));
  expect(detections.map(([digit]) => digit).join("")).toBe("42");
  for (const [i, startMs] of [1000, 1200].entries()) {
    expect(detections[i]![1]).toBeGreaterThanOrEqual(startMs - 13);
    expect(detections[i]![1]).toBeLessThanOrEqual(startMs + 26);
  }
});

describe("dtmfTones", () => {
  test("returns two tones of the requested level and length, then a pause", () => {
    const samples = dtmfTones("1", { sampleRate: 8000, toneMs: 80, pauseMs: 60, levelDb: -13 });
    expect(samples.length).toBe(8 * 140);
    const tonePart = samples.subarray(0, 640);
    expect(toneShare(tonePart, 697, 8000)).toBeCloseTo(0.5, 1);
    expect(toneShare(tonePart, 1209, 8000)).toBeCloseTo(0.5, 1);
    expect(20 * Math.log10(rms(tonePart) / 32767)).toBeCloseTo(-13, 0);
    expect(rms(samples.subarray(640))).toBe(0);
  });

  test("returns no samples without digits and throws a RangeError for other characters", () => {
    expect(dtmfTones("", { sampleRate: 8000 }).length).toBe(0);
    expect(() => dtmfTones("12x", { sampleRate: 8000 })).toThrow(new RangeError('"x" is not a DTMF digit'));
  });
});

test("a hundred random numbers are detected as generated", () => {
  const next = random(11);
  for (let i = 0; i < 100; i++) {
    const number = Array.from({ length: 10 }, () => DIGITS[Math.floor(next() * 16)]).join("");
    const tones = dtmfTones(number, { sampleRate: 8000, toneMs: 40 + 60 * next(), pauseMs: 40 + 60 * next() });
    expect(detect(addNoise(tones, 10_000, 10 + 30 * next(), i))).toBe(number);
  }
});

describe("gaps in the audio", () => {
  const RATE = 8_000;
  const key = dtmfTones("5", { sampleRate: RATE, toneMs: 100, pauseMs: 0 });

  /** Keys detected in pieces of audio, each received or filled in; `afterPause` marks a piece's first sample. */
  function keysOf(pieces: readonly (readonly [samples: Int16Array, mark: number])[]): string {
    let digits = "";
    const detector = new DtmfDetector(RATE, (digit) => {
      digits += digit;
    });
    for (const [samples, mark] of pieces) {
      const marks = new Uint8Array(samples.length).fill(mark === SAMPLE.filledIn ? mark : SAMPLE.received);
      if (samples.length > 0) marks[0] = mark;
      for (let at = 0; at < samples.length; at += 160)
        detector.push(samples.subarray(at, at + 160), marks.subarray(at, at + 160));
    }
    return digits;
  }

  const { filledIn, received, afterPause } = SAMPLE;
  const part = (ms: number): Int16Array => key.subarray(0, ms * 8);
  const silence = (ms: number): Int16Array => new Int16Array(ms * 8);

  test("start no key, whatever they are filled with", () => {
    expect(
      keysOf([
        [part(10), received],
        [part(90), filledIn],
        [silence(200), received],
        [key, filledIn],
      ]),
    ).toBe("");
  });

  test("of up to 200 ms do not end a key that sounds on both sides", () => {
    for (const gapMs of [1, 20, 60, 200])
      for (const headMs of [30, 37, 45])
        expect(
          keysOf([
            [part(headMs), received],
            [silence(gapMs), filledIn],
            [part(50), received],
          ]),
          `${gapMs} ms`,
        ).toBe("5");
  });

  test("that are longer, or become a pause, separate two keys", () => {
    expect(
      keysOf([
        [key, received],
        [silence(220), filledIn],
        [key, received],
      ]),
    ).toBe("55");
    for (const gapMs of [5, 20, 60])
      expect(
        keysOf([
          [key, received],
          [part(gapMs), filledIn],
          [key, afterPause],
        ]),
        `${gapMs} ms`,
      ).toBe("55");
  });

  test("next to the silence between keys do not join them", () => {
    expect(
      keysOf([
        [key, received],
        [key.subarray(0, 640), filledIn],
        [silence(20), received],
        [key, received],
      ]),
    ).toBe("55");
    expect(
      keysOf([
        [key, received],
        [silence(20), received],
        [key.subarray(0, 640), filledIn],
        [key, received],
      ]),
    ).toBe("55");
  });
});
