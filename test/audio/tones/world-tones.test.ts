import { describe, expect, test } from "vitest";
import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { concatPcm, msToSamples, rms } from "../../../src/audio/samples/pcm.ts";
import { ToneDetector } from "../../../src/audio/tones/tone-detector.ts";
import { ToneClassifier } from "../../../src/domain/tones/tone-classifier.ts";
import { music, samplesOf } from "../../support/answers/sounds.ts";
import { random } from "../../support/random.ts";
import { babble, sum, whiteNoise } from "../noise.ts";
import { BEEPS, CERTAIN_TONES, NETWORK_TONES, type ToneLine, type WorldTone, worldTone } from "./world-tones.ts";

/** Tones and beeps detected in samples, in order. */
function tonesIn(samples: Int16Array, sampleRate: number, hasSpoken = false): string[] {
  const reports: string[] = [];
  const classifier = new ToneClassifier({
    onBeep: () => void reports.push("beep"),
    onTone: ({ tone }) => void reports.push(tone),
  });
  const detector = new ToneDetector(sampleRate, (burst) => classifier.addBurst(burst, hasSpoken));
  const frame = sampleRate / 50;
  for (let at = 0; at + frame <= samples.length; at += frame) {
    detector.push(samples.subarray(at, at + frame));
    classifier.addFrame(detector.hz, detector.otherHz, detector.toneMs, 20);
  }
  return reports;
}

const LINES: readonly (ToneLine & {
  readonly codec: "μ-law" | "A-law";
  readonly snrDb: number;
  readonly offsetMs: number;
})[] = [
  { sampleRate: 8_000, levelDb: -10, detune: 0, codec: "μ-law", snrDb: 40, offsetMs: 500 },
  { sampleRate: 8_000, levelDb: -30, detune: 0.01, codec: "A-law", snrDb: 20, offsetMs: 507 },
  { sampleRate: 8_000, levelDb: -20, detune: -0.01, codec: "μ-law", snrDb: 15, offsetMs: 513 },
  { sampleRate: 16_000, levelDb: -15, detune: 0.005, codec: "A-law", snrDb: 25, offsetMs: 1_001 },
  { sampleRate: 48_000, levelDb: -25, detune: -0.005, codec: "μ-law", snrDb: 30, offsetMs: 50 },
];

const NOISE = whiteNoise(60_000, 1_000, 7);

/** White noise; a loop of 7 s, because generating it takes longer than detecting the tone. */
function noiseOf(length: number, level: number): Int16Array {
  return Int16Array.from({ length }, (_, i) => (NOISE[i % NOISE.length]! * level) / 1_000);
}

function onLine(tone: WorldTone, ms: number, line: (typeof LINES)[number], isSingle = false): Int16Array {
  const { sampleRate, codec, snrDb, offsetMs } = line;
  const silence = (length: number) => new Int16Array(msToSamples(length, sampleRate));
  const length = isSingle ? tone.tone.split(",").reduce((total, part) => total + Number(part.split("/")[1]), 0) : ms;
  const sound = worldTone(tone, length, line);
  const samples = concatPcm([silence(offsetMs), sound, silence(Math.max(0, ms - length))]);
  const loudness = rms(worldTone(tone, Math.min(length, 150), line));
  const noisySamples = sum(samples, noiseOf(samples.length, loudness / 10 ** (snrDb / 20)));
  return codec === "μ-law" ? decodeMulaw(encodeMulaw(noisySamples)) : decodeAlaw(encodeAlaw(noisySamples));
}

describe.each(LINES)(
  "on a line at $sampleRate Hz, at $levelDb dBFS, detuned by $detune, $snrDb dB over noise, in $codec",
  (line) => {
    // The detector works at 8 kHz, so a sample of the tones is enough for higher rates.
    const sample = (tones: readonly WorldTone[]) =>
      tones.filter((_, index) => line.sampleRate === 8_000 || index % 9 === 2);

    test.each(sample([...NETWORK_TONES, ...CERTAIN_TONES]))("$name ($tone) is $expected", (tone) => {
      const reports = tonesIn(onLine(tone, /\/(750|2500)/.test(tone.tone) ? 6_500 : 5_200, line), line.sampleRate);
      // The first tone of a slow busy tone sounds like ringing; a modulated ringing tone is not always recognised.
      const allowedReports =
        tone.expected === "busy" || tone.expected === "nothing" ? [tone.expected, "ringback"] : [tone.expected];
      expect(reports.filter((report) => !allowedReports.includes(report))).toEqual([]);
      if (tone.expected !== "nothing") expect(reports).toContain(tone.expected);
    });

    test.each(sample(BEEPS))("$name is the beep of a voicemail box", (tone) => {
      const reports = tonesIn(onLine(tone, 7_500, line, true), line.sampleRate, true);
      expect(reports).toContain("beep");
      expect(reports.filter((report) => report !== "beep")).toEqual([]);
    });
  },
);

test("minutes of simulated speech have no known tone", () => {
  for (let seed = 0; seed < 3; seed++)
    expect(tonesIn(babble(60_000, 8_000, 3_000, seed), 8_000).filter((report) => report !== "beep")).toEqual([]);
});

test("five minutes of music have no known tone", () => {
  for (let seed = 0; seed < 5; seed++) {
    const sound = samplesOf(music(60_000, 8_000, random(seed)).map((value) => 3_000 * value));
    expect(tonesIn(sound, 8_000).filter((report) => report !== "beep")).toEqual([]);
  }
});

test.each(["425/1000,0/4000", "425/400,0/200,425/400,0/2000", "425/1000,0/5000"])(
  "ringing after speech (%s) is ringing from its second ring, and never a beep",
  (tone) => {
    const line = { sampleRate: 8_000, levelDb: -15, detune: 0 };
    const samples = concatPcm([worldTone({ tone }, 1_000, line), new Int16Array(16_000)]);
    expect(tonesIn(samples, 8_000, true)).toEqual([]);
    expect(tonesIn(worldTone({ tone }, 14_000, line), 8_000, true)).toEqual(["ringback"]);
  },
);

test("a note repeated immediately is not ringing", () => {
  const line = { sampleRate: 8_000, levelDb: -15, detune: 0 };
  for (const notes of ["440/900,0/100,440/900,0/6000", "415/1000,0/60,415/1500,0/6000"])
    expect(tonesIn(worldTone({ tone: notes }, 8_000, line), 8_000, true)).not.toContain("ringback");
});

test("a beep without noise is detected, even at a quarter of the sample rate", () => {
  const line = { sampleRate: 8_000, levelDb: -15, detune: 0 };
  for (const hz of [500, 1_000, 1_333, 2_000])
    expect(tonesIn(worldTone({ tone: `${hz}/400,0/2000` }, 2_400, line), 8_000, true), `${hz} Hz`).toEqual(["beep"]);
});

test("a sound that never ends is suspect for at most six seconds", () => {
  for (const tone of ["440/20000", "1100/20000", "430/300,0/650", "442/500,0/610"]) {
    const classifier = new ToneClassifier({ onBeep() {}, onTone() {} });
    const detector = new ToneDetector(8_000, (burst) => classifier.addBurst(burst, true));
    const samples = worldTone({ tone }, 12_000, { sampleRate: 8_000, levelDb: -15, detune: 0 });
    let [suspectMs, longestMs] = [0, 0];
    for (let at = 0; at + 160 <= samples.length; at += 160) {
      detector.push(samples.subarray(at, at + 160));
      classifier.addFrame(detector.hz, detector.otherHz, detector.toneMs, 20);
      suspectMs = classifier.isSuspicious ? suspectMs + 20 : 0;
      longestMs = Math.max(longestMs, suspectMs);
    }
    expect(longestMs, tone).toBeLessThanOrEqual(6_000);
  }
});

test("an alarm with a busy cadence at another frequency is not busy", () => {
  const line = { sampleRate: 8_000, levelDb: -15, detune: 0 };
  for (const hz of [350, 500, 800, 1_000])
    expect(tonesIn(worldTone({ tone: `${hz}/500,0/500` }, 8_000, line), 8_000)).not.toContain("busy");
});

test("a busy tone on television with speech between the tones is not busy", () => {
  const line = { sampleRate: 8_000, levelDb: -15, detune: 0 };
  const samples = sum(worldTone({ tone: "425/500,0/500" }, 8_000, line), babble(8_000, 8_000, 3_000, 3));
  expect(tonesIn(samples, 8_000)).not.toContain("busy");
});
