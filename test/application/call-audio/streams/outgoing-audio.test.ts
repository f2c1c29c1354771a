import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OutgoingAudio } from "../../../../src/application/call-audio/streams/outgoing-audio.ts";
import { Playout } from "../../../../src/audio/playout/playout.ts";
import { concatPcm } from "../../../../src/audio/samples/pcm.ts";
import { resample } from "../../../../src/audio/samples/resample.ts";
import { tone } from "../../../../src/audio/tones/tone.ts";
import { fuzz } from "../../../support/fuzz.ts";
import { random } from "../../../support/random.ts";

/** A leg that pulls frames and keeps them. */
class FakeLeg {
  readonly playout: Playout;
  readonly audio: OutgoingAudio = new OutgoingAudio();
  readonly #frames: Int16Array[] = [];
  readonly #length: number;

  constructor(sampleRate: number, frameMs = 20) {
    this.playout = new Playout(sampleRate);
    this.#length = (sampleRate * frameMs) / 1000;
    this.audio.connect(this.playout);
  }

  pull(frames = 1): void {
    for (let i = 0; i < frames; i++) {
      const frame = new Int16Array(this.#length);
      this.playout.read(frame);
      this.#frames.push(frame);
    }
  }

  /** Pulls until the queue is empty. */
  drain(): void {
    do this.pull();
    while (this.audio.queuedMs > 0);
    this.pull(2);
  }

  get heard(): Int16Array {
    return concatPcm(this.#frames);
  }
}

/** The audio heard, from its first sound to its last. */
function trimSilence(samples: Int16Array): Int16Array {
  let [from, to] = [0, samples.length];
  while (from < to && samples[from] === 0) from++;
  while (to > from && samples[to - 1] === 0) to--;
  return samples.subarray(from, to);
}

const RATES = [8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000];
const PAIRS = RATES.flatMap((from) => [8_000, 16_000, 48_000].map((to) => [from, to] as const));

describe.each(PAIRS)("audio at %i Hz to a leg at %i Hz", (from, to) => {
  test("is heard sample by sample in a thousand pieces of odd sizes", () => {
    const next = random(from + to);
    const pieces = Array.from({ length: 1_000 }, () => 1 + Math.floor(next() ** 3 * 900));
    const length = pieces.reduce((sum, piece) => sum + piece, 0);
    const samples = tone(440, (length * 1000) / from, from, 12_000).subarray(0, length);
    const leg = new FakeLeg(to);
    let at = 0;
    for (const piece of pieces) {
      leg.audio.write(samples.subarray(at, at + piece), from);
      at += piece;
      // The leg lags slightly behind the client.
      while (leg.audio.queuedMs > 300) leg.pull();
    }
    leg.drain();
    expect(trimSilence(leg.heard)).toEqual(trimSilence(resample(samples, from, to)));
    expect(leg.playout.heardMs).toBe(Math.round(resample(samples, from, to).length / (to / 1000)));
    expect(leg.playout.underruns).toBeLessThanOrEqual(1);
  });

  test("is heard without a seam if it keeps pace with the leg to the sample", () => {
    const samples = tone(300, 2_000, from, 12_000);
    const leg = new FakeLeg(to);
    leg.pull(3);
    for (let at = 0, n = 1; at < samples.length; n++) {
      const end = Math.round((n * from) / 50);
      leg.audio.write(samples.subarray(at, end), from);
      at = end;
      leg.pull();
    }
    leg.drain();
    expect(trimSilence(leg.heard)).toEqual(trimSilence(resample(samples, from, to)));
  });

  test("is heard to its last sample without further input", () => {
    const samples = tone(500, 60, from, 12_000);
    const leg = new FakeLeg(to);
    leg.pull(2);
    leg.audio.write(samples, from);
    leg.pull(4);
    expect(trimSilence(leg.heard)).toEqual(trimSilence(resample(samples, from, to)));
    leg.pull(10);
    expect(leg.playout.heardMs).toBe(60);
  });
});

test("audio written before the leg exists waits for it, at any rate", () => {
  const earlyTones = [
    tone(440, 100, 16_000, 9_000),
    tone(880, 100, 44_100, 9_000),
    tone(660, 100, 8_000, 9_000),
  ] as const;
  const leg = new FakeLeg(8_000);
  const audio = new OutgoingAudio();
  audio.write(earlyTones[0], 16_000);
  audio.write(earlyTones[1], 44_100);
  audio.write(earlyTones[2], 8_000);
  expect(audio.queuedMs).toBeCloseTo(300, 6);
  audio.connect(leg.playout);
  expect(leg.playout.queuedMs, "no audio is resampled before it is needed").toBe(0);
  leg.pull(20);
  const expected = concatPcm([
    resample(earlyTones[0], 16_000, 8_000),
    resample(earlyTones[1], 44_100, 8_000),
    earlyTones[2],
  ]);
  expect(trimSilence(leg.heard)).toEqual(trimSilence(expected));
});

test("audio left by a lost leg is heard on the next one", () => {
  const audio = new OutgoingAudio();
  audio.connect(new Playout(16_000));
  audio.write(tone(440, 100, 8_000, 9_000), 8_000);
  const leg = new FakeLeg(8_000);
  audio.connect(leg.playout);
  leg.pull(10);
  expect(trimSilence(leg.heard)).toEqual(trimSilence(tone(440, 100, 8_000, 9_000)));
});

test("a minute of audio in one piece is resampled incrementally", () => {
  const leg = new FakeLeg(8_000);
  leg.pull();
  leg.audio.write(tone(440, 60_000, 48_000, 9_000), 48_000);
  expect(leg.audio.queuedMs).toBeCloseTo(60_000, 6);
  for (let frame = 0; frame < 100; frame++) {
    leg.pull();
    expect(leg.playout.queuedMs).toBeLessThan(100);
  }
});

describe("a mark", () => {
  test.each([8_000, 16_000, 44_100])("is reached after the last sample before it, and not sooner (%i Hz)", (from) => {
    const leg = new FakeLeg(8_000);
    const reports: [string, number][] = [];
    const mark = (name: string) => leg.audio.mark(name, (status) => reports.push([status, leg.playout.heardMs]));
    const piece = tone(400, 330, from, 9_000);
    mark("first");
    leg.pull();
    expect(reports).toEqual([["first", 0]]);
    for (const name of ["a", "b", "c"]) {
      leg.audio.write(piece, from);
      mark(name);
    }
    mark("d");
    leg.drain();
    expect(reports.slice(1)).toEqual([
      ["a", 330],
      ["b", 660],
      ["c", 990],
      ["d", 990],
    ]);
    const expected = resample(concatPcm([piece, piece, piece]), from, 8_000);
    expect(trimSilence(leg.heard), "marks leave no seam").toEqual(trimSilence(expected));
  });

  test("is refused beyond ten thousand waiting marks", () => {
    const { audio } = new FakeLeg(8_000);
    for (let i = 0; i < 10_000; i++) audio.mark("m", () => {});
    expect(() => audio.mark("one more", () => {})).toThrow(RangeError);
  });
});

describe("clear", () => {
  test("drops waiting audio, at every stage, and its marks", () => {
    const leg = new FakeLeg(8_000);
    leg.audio.write(tone(440, 5_000, 16_000, 9_000), 16_000);
    leg.audio.mark("never", () => expect.unreachable());
    leg.pull(50);
    leg.audio.clear();
    expect(leg.audio.queuedMs).toBe(0);
    const { heardMs } = leg.audio;
    expect(heardMs).toBeGreaterThanOrEqual(1_000 - 3);
    expect(heardMs).toBeLessThanOrEqual(1_000);
    leg.pull(20);
    expect(trimSilence(leg.heard.subarray(8_000)).length).toBe(0);
    const next = tone(700, 100, 16_000, 9_000);
    leg.audio.write(next, 16_000);
    leg.pull(10);
    expect(trimSilence(leg.heard.subarray(8_000))).toEqual(trimSilence(resample(next, 16_000, 8_000)));
    expect(leg.audio.heardMs).toBe(heardMs + 100);
  });

  test("drops the audio written so far if no leg exists yet", () => {
    const audio = new OutgoingAudio();
    audio.write(tone(440, 100, 8_000, 9_000), 8_000);
    audio.mark("never", () => expect.unreachable());
    audio.clear();
    expect([audio.queuedMs, audio.heardMs]).toEqual([0, 0]);
    audio.write(tone(880, 40, 8_000, 9_000), 8_000);
    const leg = new FakeLeg(8_000);
    audio.connect(leg.playout);
    leg.pull(4);
    expect(trimSilence(leg.heard)).toEqual(trimSilence(tone(880, 40, 8_000, 9_000)));
  });
});

describe("the end", () => {
  const endTimes = (leg: FakeLeg, tailMs = 300) => {
    const reportTimes: number[] = [];
    leg.audio.end(tailMs, () => reportTimes.push(leg.playout.clockMs));
    return reportTimes;
  };

  test("follows everything heard and a silence", () => {
    const leg = new FakeLeg(8_000);
    leg.pull();
    leg.audio.write(tone(440, 500, 24_000, 9_000), 24_000);
    const reportTimes = endTimes(leg);
    leg.pull(60);
    expect(leg.audio.heardMs).toBe(500);
    expect(reportTimes.length).toBe(1);
    expect(reportTimes[0]).toBeGreaterThanOrEqual(20 + 800 - 20);
    expect(reportTimes[0]).toBeLessThanOrEqual(20 + 800 + 20);
  });

  test("counts the silence so far", () => {
    const leg = new FakeLeg(8_000);
    leg.audio.write(tone(440, 100, 8_000, 9_000), 8_000);
    leg.pull(15); // 100 ms of sound, 200 ms of silence
    const reportTimes = endTimes(leg);
    leg.pull(10);
    expect(reportTimes).toEqual([380]);
  });

  test("is reached at once if the queue is empty or there is no leg", () => {
    const silentLeg = new FakeLeg(8_000);
    silentLeg.pull();
    const reportTimes = endTimes(silentLeg);
    silentLeg.pull();
    expect(reportTimes.length).toBe(1);
    const clearedLeg = new FakeLeg(8_000);
    clearedLeg.audio.write(tone(440, 1_000, 8_000, 9_000), 8_000);
    clearedLeg.pull(10);
    clearedLeg.audio.clear();
    expect(endTimes(clearedLeg).length).toBe(1);
    let endCount = 0;
    new OutgoingAudio().end(300, () => endCount++);
    expect(endCount).toBe(1);
  });
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ write: fc.integer({ min: 0, max: 3_000 }) }) },
  { weight: 6, arbitrary: fc.record({ pull: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 2, arbitrary: fc.constant("mark" as const) },
  { weight: 1, arbitrary: fc.constant("clear" as const) },
);

fuzz(
  "exactly the audio that was written and not cleared is heard, with marks in order",
  fc.property(
    fc.constantFrom(...PAIRS),
    fc.constantFrom(10, 20, 60),
    fc.array(step, { maxLength: 40 }),
    ([from, to], frameMs, steps) => {
      const leg = new FakeLeg(to, frameMs);
      const { audio, playout } = leg;
      let dueMarks: { name: string; afterMs: number }[] = [];
      /** Audio heard before the last clear, and audio written since. */
      let [heardBeforeClearMs, samplesSinceClear] = [0, 0];
      const markReached = (name: string) => {
        const mark = dueMarks.shift();
        expect(mark?.name).toBe(name);
        expect(playout.heardMs).toBeGreaterThanOrEqual(Math.floor(mark?.afterMs ?? 0));
      };
      for (const [n, action] of steps.entries()) {
        if (action === "clear") {
          audio.clear();
          dueMarks = [];
          expect(audio.queuedMs).toBe(0);
          [heardBeforeClearMs, samplesSinceClear] = [audio.heardMs, 0];
        } else if (action === "mark") {
          dueMarks.push({ name: String(n), afterMs: heardBeforeClearMs + (samplesSinceClear * 1000) / from - 1 });
          audio.mark(String(n), markReached);
        } else if ("write" in action) {
          audio.write(tone(300, (action.write * 1000) / from, from, 10_000), from);
          samplesSinceClear += action.write;
        } else leg.pull(action.pull);
        expect(playout.heardMs).toBeLessThanOrEqual(heardBeforeClearMs + (samplesSinceClear * 1000) / from + 1);
      }
      leg.drain();
      expect(dueMarks).toEqual([]);
      expect(Math.abs(playout.heardMs - heardBeforeClearMs - (samplesSinceClear * 1000) / from)).toBeLessThan(3);
      expect(audio.queuedMs).toBe(0);
    },
  ),
);
