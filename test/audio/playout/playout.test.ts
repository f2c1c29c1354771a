import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Playout } from "../../../src/audio/playout/playout.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { fuzz } from "../../support/fuzz.ts";
import { processorMs } from "../../support/processor-time.ts";

const RATE = 8000;

function pull(playout: Playout, length: number): { signal: number; frame: Int16Array } {
  const frame = new Int16Array(length).fill(-1);
  return { signal: playout.read(frame), frame };
}

function isSettled(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), new Promise<boolean>((r) => setTimeout(r, 0, false))]);
}

function ramp(length: number, from = 1): Int16Array {
  return Int16Array.from({ length }, (_, i) => from + i);
}

type Step = { enqueue: number } | { read: number } | { mark: true };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ enqueue: fc.integer({ min: 0, max: 700 }) }),
  fc.record({ read: fc.integer({ min: 1, max: 480 }) }),
  fc.record({ mark: fc.constant(true as const) }),
);

fuzz(
  "reads of any size return the enqueued samples, with marks in place and order",
  fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
    const playout = new Playout(RATE);
    const enqueuedFrames: Int16Array[] = [];
    const pulledFrames: Int16Array[] = [];
    const marks: { position: number; at: number }[] = [];
    let total = 0;
    let heardSamples = 0;
    const read = (length: number) => {
      const { signal, frame } = pull(playout, length);
      expect(signal).toBe(Math.min(length, total - heardSamples));
      expect(frame.subarray(signal).every((sample) => sample === 0)).toBe(true);
      pulledFrames.push(frame.slice(0, signal));
      heardSamples += signal;
    };
    const positions: number[] = [];
    for (const action of steps) {
      if ("enqueue" in action) {
        const samples = ramp(action.enqueue, total % 20_000);
        enqueuedFrames.push(samples);
        playout.enqueue(samples);
        total += action.enqueue;
      } else if ("read" in action) read(action.read);
      else {
        const position = total;
        positions.push(position);
        playout.mark(String(positions.length), () => marks.push({ position, at: playout.heardMs }));
      }
      expect(playout.heardMs).toBe(Math.round(heardSamples / 8));
      expect(playout.queuedMs).toBe(Math.round((total - heardSamples) / 8));
      expect(playout.enqueuedMs).toBe(Math.round(total / 8));
    }
    while (heardSamples < total) read(160);
    read(160);
    expect(concatPcm(pulledFrames)).toEqual(concatPcm(enqueuedFrames));
    // A mark set after its position has been pulled is reached in the next read, so never too early.
    expect(marks.map(({ position }) => position)).toEqual(positions);
    for (const { position, at } of marks) expect(at).toBe(Math.round(position / 8));
  }),
);

describe("a mark", () => {
  test("is reached in the read that pulls the last sample before it", () => {
    const playout = new Playout(RATE);
    const reachedMarks: string[] = [];
    playout.enqueue(ramp(160));
    playout.mark("one", (name) => reachedMarks.push(name));
    playout.enqueue(ramp(161));
    playout.mark("two", (name) => reachedMarks.push(name));
    pull(playout, 160);
    expect(reachedMarks).toEqual(["one"]);
    pull(playout, 160);
    expect(reachedMarks).toEqual(["one"]);
    pull(playout, 160);
    expect(reachedMarks).toEqual(["one", "two"]);
  });

  test("may enqueue more into the same frame", () => {
    const playout = new Playout(RATE);
    playout.enqueue(ramp(100));
    playout.mark("more", () => playout.enqueue(ramp(100)));
    expect(pull(playout, 160).signal).toBe(160);
    expect(playout.underruns).toBe(0);
  });

  test("may clear the queue", () => {
    const playout = new Playout(RATE);
    playout.enqueue(ramp(80));
    playout.mark("stop", () => expect(playout.clear()).toBe(10));
    playout.enqueue(ramp(800));
    expect(pull(playout, 160).signal).toBe(80);
    expect(playout.queuedMs).toBe(0);
  });
});

test("clear() drops the queue, marks included, and returns the time heard", () => {
  const playout = new Playout(RATE);
  playout.enqueue(ramp(800));
  playout.mark("never", () => expect.unreachable());
  pull(playout, 160);
  pull(playout, 160);
  expect(playout.clear()).toBe(40);
  expect(pull(playout, 160)).toEqual({ signal: 0, frame: new Int16Array(160) });
  expect(playout.heardMs).toBe(40);
  expect(playout.enqueuedMs).toBe(100);
  playout.enqueue(ramp(160, 7));
  expect(pull(playout, 160).frame).toEqual(ramp(160, 7));
});

test("silence takes time but is neither signal nor heard", async () => {
  const playout = new Playout(RATE);
  playout.enqueue(ramp(80));
  playout.silence(20);
  playout.enqueue(ramp(80));
  playout.end();
  expect(playout.queuedMs).toBe(40);
  expect(playout.enqueuedMs).toBe(20);
  expect(pull(playout, 160)).toEqual({ signal: 80, frame: concatPcm([ramp(80), new Int16Array(80)]) });
  expect(await isSettled(playout.whenDrained)).toBe(false);
  expect(pull(playout, 160)).toEqual({ signal: 80, frame: concatPcm([new Int16Array(80), ramp(80)]) });
  expect(playout.heardMs).toBe(20);
  expect(playout.clockMs).toBe(40);
  expect(await isSettled(playout.whenDrained)).toBe(true);
});

describe("whenDrained", () => {
  test("resolves after end() and the last sample", async () => {
    const playout = new Playout(RATE);
    playout.enqueue(ramp(161));
    playout.end();
    pull(playout, 160);
    expect(await isSettled(playout.whenDrained)).toBe(false);
    pull(playout, 160);
    expect(await isSettled(playout.whenDrained)).toBe(true);
  });

  test("waits for end() when the queue is empty", async () => {
    const playout = new Playout(RATE);
    pull(playout, 160);
    expect(await isSettled(playout.whenDrained)).toBe(false);
    playout.end();
    playout.end();
    expect(await isSettled(playout.whenDrained)).toBe(true);
  });

  test("waits for the last mark", async () => {
    const playout = new Playout(RATE);
    playout.mark("last", () => {});
    playout.end();
    expect(await isSettled(playout.whenDrained)).toBe(false);
    pull(playout, 160);
    expect(await isSettled(playout.whenDrained)).toBe(true);
  });

  test("resolves when the rest is cleared", async () => {
    const playout = new Playout(RATE);
    playout.enqueue(ramp(800));
    playout.end();
    playout.clear();
    expect(await isSettled(playout.whenDrained)).toBe(true);
  });
});

test("no audio can be added after the end", () => {
  const playout = new Playout(RATE);
  playout.end();
  expect(playout.isEnded).toBe(true);
  expect(() => playout.enqueue(ramp(1))).toThrow(/has ended/);
  expect(() => playout.silence(1)).toThrow(/has ended/);
  expect(() => playout.mark("late", () => {})).toThrow(/has ended/);
});

test("an underrun is counted once for each time the queue runs dry while playing", () => {
  const playout = new Playout(RATE);
  pull(playout, 160);
  expect(playout.underruns, "before any signal").toBe(0);
  playout.enqueue(ramp(200));
  pull(playout, 160);
  expect(playout.underruns).toBe(0);
  pull(playout, 160);
  pull(playout, 160);
  expect(playout.underruns, "dry within a frame, then idle").toBe(1);
  playout.enqueue(ramp(160));
  pull(playout, 160);
  pull(playout, 160);
  expect(playout.underruns, "dry between frames").toBe(2);
  playout.enqueue(ramp(400));
  pull(playout, 160);
  playout.clear();
  pull(playout, 160);
  expect(playout.underruns, "cleared on purpose").toBe(2);
  playout.enqueue(ramp(10));
  playout.end();
  pull(playout, 160);
  expect(playout.underruns, "the last, short frame").toBe(2);
});

test("the first signal is reported once; the silence before it is not", () => {
  const playout = new Playout(RATE);
  let announcedCount = 0;
  playout.onFirstSignal = () => announcedCount++;
  pull(playout, 160);
  playout.silence(20);
  pull(playout, 160);
  expect(announcedCount).toBe(0);
  playout.enqueue(ramp(320));
  pull(playout, 160);
  pull(playout, 160);
  expect(announcedCount).toBe(1);
});

test("an hour of small pieces is processed quickly", () => {
  const playout = new Playout(RATE);
  const piece = ramp(80);
  const frame = new Int16Array(160);
  for (let i = 0; i < 500; i++) playout.enqueue(piece);
  const startMs = processorMs();
  for (let i = 0; i < 180_000; i++) {
    playout.enqueue(piece);
    playout.enqueue(piece);
    playout.read(frame);
  }
  expect(playout.queuedMs).toBe(5000);
  expect(processorMs() - startMs).toBeLessThan(5000);
});

describe("an empty queue's silence", () => {
  /** A playout, and the silences that it has reported. */
  function playoutWithDelays() {
    const playout = new Playout(RATE);
    const delays: { atMs: number; silenceMs: number }[] = [];
    playout.onDelay = (atMs, silenceMs) => delays.push({ atMs, silenceMs });
    return { playout, delays };
  }

  fuzz(
    "is reported after its end, with its start and length",
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { playout, delays } = playoutWithDelays();
      const pulledFrames: Int16Array[] = [];
      const multiple = (samples: number) => 8 * (samples >> 3); // whole milliseconds
      for (const action of steps)
        if ("enqueue" in action) playout.enqueue(ramp(multiple(action.enqueue)));
        else if ("read" in action) pulledFrames.push(pull(playout, multiple(action.read + 8)).frame);
      playout.clear();
      const expected: { atMs: number; silenceMs: number }[] = [];
      const heard = concatPcm(pulledFrames);
      for (let at = 0; at < heard.length; ) {
        let end = at;
        while (end < heard.length && heard[end] === 0) end++;
        if (end > at) expected.push({ atMs: at / 8, silenceMs: (end - at) / 8 });
        at = Math.max(end, at + 1);
      }
      expect(delays).toEqual(expected);
    }),
  );

  test("excludes enqueued silence and silence after the end", () => {
    const { playout, delays } = playoutWithDelays();
    playout.enqueue(ramp(160));
    playout.silence(20);
    playout.end();
    for (let frame = 0; frame < 5; frame++) pull(playout, 160);
    playout.clear();
    expect(delays).toEqual([]);
  });
});
