import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OutgoingAudio } from "../../../../src/application/call-audio/streams/outgoing-audio.ts";
import { Playout } from "../../../../src/audio/playout/playout.ts";
import { resample } from "../../../../src/audio/samples/resample.ts";
import { tone } from "../../../../src/audio/tones/tone.ts";
import { fuzz } from "../../../support/fuzz.ts";

const RATE = 8_000;
const FRAME = 160;
/** Maximum audio ready in a worker: 200 ms. */
const MAX_AHEAD = 1_600;

/** A leg that sends from another thread: it pulls 200 ms ahead and later reports the samples sent. */
class Worker {
  readonly playout: Playout = new Playout(RATE);
  readonly audio: OutgoingAudio = new OutgoingAudio();
  readonly #ring: number[] = [];
  readonly #sentSamples: number[] = [];
  #unreportedSamples = 0;
  #silentSamples = 0;

  constructor() {
    this.audio.connect(this.playout);
    this.playout.recall = () => {
      this.#ring.length = 0;
      this.#report();
    };
  }

  /** Ticks the main thread, then `frames` of the worker. */
  tick(frames = 1): void {
    this.#report();
    const frame = new Int16Array(FRAME);
    while (this.#ring.length + FRAME <= MAX_AHEAD) {
      const samples = this.playout.pull(frame);
      this.#ring.push(...frame.subarray(0, samples));
      if (samples < FRAME) break;
    }
    for (let i = 0; i < frames; i++) {
      const chunk = this.#ring.splice(0, FRAME);
      this.#unreportedSamples += chunk.length;
      this.#silentSamples += FRAME - chunk.length;
      this.#sentSamples.push(...chunk, ...new Array<number>(FRAME - chunk.length).fill(0));
    }
  }

  drain(): void {
    do this.tick();
    while (this.audio.queuedMs > 0);
    this.tick();
  }

  #report(): void {
    const [samples, silence] = [this.#unreportedSamples, this.#silentSamples];
    this.#unreportedSamples = 0;
    this.#silentSamples = 0;
    this.playout.sent(samples, silence, silence > 0 && samples > 0);
  }

  get heard(): Int16Array {
    return Int16Array.from(this.#sentSamples);
  }
}

function trimSilence(samples: Int16Array): Int16Array {
  let [from, to] = [0, samples.length];
  while (from < to && samples[from] === 0) from++;
  while (to > from && samples[to - 1] === 0) to--;
  return samples.subarray(from, to);
}

describe("a leg that pulls ahead", () => {
  test("sends timely audio without a seam, and its end at once", () => {
    const samples = tone(300, 2_000, 16_000, 12_000);
    const worker = new Worker();
    for (let i = 0; i < 3; i++) worker.tick();
    for (let at = 0; at < samples.length; at += 320) {
      worker.audio.write(samples.subarray(at, at + 320), 16_000);
      worker.tick();
    }
    worker.tick(2);
    expect(trimSilence(worker.heard)).toEqual(trimSilence(resample(samples, 16_000, RATE)));
  });

  test("reports marks and heard_ms by sent audio, not by pulled audio", () => {
    const worker = new Worker();
    const reachedMarks: number[] = [];
    worker.audio.write(tone(440, 100, 24_000, 9_000), 24_000);
    worker.audio.mark("here", () => reachedMarks.push(worker.playout.heardMs));
    worker.audio.write(tone(440, 500, 24_000, 9_000), 24_000);
    worker.tick(2);
    expect([reachedMarks, worker.audio.heardMs]).toEqual([[], 0]);
    worker.tick(2);
    worker.tick(2);
    expect(reachedMarks).toEqual([]);
    worker.tick(2);
    expect(reachedMarks.length).toBe(1);
    expect(reachedMarks[0]).toBeGreaterThanOrEqual(100);
  });

  test("drops its prepared audio on clear, and tracks what was heard", () => {
    const worker = new Worker();
    worker.audio.write(tone(440, 5_000, 16_000, 9_000), 16_000);
    worker.audio.mark("never", () => expect.unreachable());
    worker.tick(5);
    worker.tick(3);
    worker.audio.clear();
    expect([worker.audio.heardMs, worker.audio.queuedMs]).toEqual([160, 0]);
    const next = tone(880, 100, 16_000, 9_000);
    worker.audio.write(next, 16_000);
    worker.drain();
    expect(trimSilence(worker.heard.subarray(8 * FRAME))).toEqual(trimSilence(resample(next, 16_000, RATE)));
    expect(worker.audio.heardMs).toBe(260);
  });

  test("ends after its last silence has been sent", () => {
    const worker = new Worker();
    worker.tick();
    worker.audio.write(tone(440, 200, 8_000, 9_000), 8_000);
    let endedAt = 0;
    worker.audio.end(300, () => {
      endedAt = worker.playout.clockMs;
    });
    for (let i = 0; i < 40 && endedAt === 0; i++) worker.tick();
    expect(endedAt).toBeGreaterThanOrEqual(20 + 200 + 300 - 20);
    expect(endedAt).toBeLessThanOrEqual(20 + 200 + 300 + 60);
  });
});

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ write: fc.integer({ min: 1, max: 4_000 }) }) },
  { weight: 5, arbitrary: fc.record({ tick: fc.integer({ min: 0, max: 4 }) }) },
  { weight: 1, arbitrary: fc.constant("clear" as const) },
  { weight: 2, arbitrary: fc.constant("mark" as const) },
);

fuzz(
  "audio that is written and not cleared is sent once, with marks in order",
  fc.property(fc.array(step, { maxLength: 40 }), fc.constantFrom(8_000, 16_000, 44_100), (steps, from) => {
    const worker = new Worker();
    let dueMarks: string[] = [];
    let [heardBeforeClearMs, samplesSinceClear] = [0, 0];
    for (const [n, action] of steps.entries()) {
      if (action === "clear") {
        worker.audio.clear();
        dueMarks = [];
        expect(worker.audio.queuedMs).toBe(0);
        [heardBeforeClearMs, samplesSinceClear] = [worker.audio.heardMs, 0];
      } else if (action === "mark") {
        dueMarks.push(String(n));
        worker.audio.mark(String(n), (name) => expect(name).toBe(dueMarks.shift()));
      } else if ("write" in action) {
        worker.audio.write(tone(300, (action.write * 1000) / from, from, 10_000), from);
        samplesSinceClear += action.write;
      } else worker.tick(action.tick);
      expect(worker.audio.heardMs).toBeLessThanOrEqual(heardBeforeClearMs + (samplesSinceClear * 1000) / from + 1);
    }
    worker.drain();
    expect(dueMarks).toEqual([]);
    expect(Math.abs(worker.audio.heardMs - heardBeforeClearMs - (samplesSinceClear * 1000) / from)).toBeLessThan(3);
    expect(worker.playout.unpulledSamples).toBe(0);
  }),
);

test("one-sample pieces form one sound on a leg that pulls ahead", () => {
  const samples = tone(500, 400, 8_000, 9_000);
  const worker = new Worker();
  for (let at = 0; at < samples.length; at++) {
    worker.audio.write(samples.subarray(at, at + 1), 8_000);
    if (at % 160 === 100) worker.tick();
  }
  worker.drain();
  expect(worker.audio.heardMs).toBe(400);
  expect(worker.heard.filter((sample) => sample !== 0).length).toBe(samples.filter((sample) => sample !== 0).length);
});
