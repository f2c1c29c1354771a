import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Playout } from "../../../src/audio/playout/playout.ts";
import { fuzz } from "../../support/fuzz.ts";

const RATE = 8000;

/** A leg that pulls ahead: pulled samples wait here until sent. */
class AheadLeg {
  readonly queuedSamples: number[] = [];
  readonly sentSamples: number[] = [];
  readonly #playout: Playout;
  #unreportedSamples = 0;

  constructor(playout: Playout) {
    this.#playout = playout;
    playout.recall = () => {
      this.queuedSamples.length = 0;
      this.report();
    };
  }

  pull(maxFrames: number): void {
    const frame = new Int16Array(maxFrames).fill(-7);
    const samples = this.#playout.pull(frame);
    expect(frame.subarray(samples).every((sample) => sample === -7)).toBe(true);
    this.queuedSamples.push(...frame.subarray(0, samples));
  }

  send(maxFrames: number): void {
    const chunk = this.queuedSamples.splice(0, maxFrames);
    this.sentSamples.push(...chunk);
    this.#unreportedSamples += chunk.length;
  }

  report(silence = 0, hasRunDry = false): void {
    const samples = this.#unreportedSamples;
    this.#unreportedSamples = 0;
    this.#playout.sent(samples, silence, hasRunDry);
  }
}

function ramp(length: number, from = 1): Int16Array {
  return Int16Array.from({ length }, (_, i) => from + i);
}

type Step =
  | { enqueue: number }
  | { silence: number }
  | { mark: true }
  | { pull: number }
  | { send: number }
  | "report"
  | "clear";
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ enqueue: fc.integer({ min: 0, max: 700 }) }),
  fc.record({ silence: fc.integer({ min: 0, max: 40 }) }),
  fc.record({ mark: fc.constant(true as const) }),
  fc.record({ pull: fc.integer({ min: 1, max: 480 }) }),
  fc.record({ send: fc.integer({ min: 1, max: 480 }) }),
  fc.constant("report" as const),
  fc.constant("clear" as const),
);

fuzz(
  "sent samples are the enqueued ones minus the cleared ones, and only they count as heard",
  fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
    const playout = new Playout(RATE);
    const leg = new AheadLeg(playout);
    /** All samples that are queued and not cleared, sent first; silence is 0, signal is not. */
    const queue: number[] = [];
    const marks: { at: number; name: string }[] = [];
    const reachedMarks: string[] = [];
    let value = 1;
    let heardLength = 0;
    for (const [n, action] of steps.entries()) {
      if (action === "report") {
        leg.report();
        heardLength = leg.sentSamples.length;
      } else if (action === "clear") {
        const heardMs = playout.clear();
        heardLength = leg.sentSamples.length;
        queue.length = heardLength;
        while (marks.length > 0 && marks.at(-1)!.at > heardLength) marks.pop();
        expect(heardMs).toBe(Math.round(leg.sentSamples.filter((sample) => sample !== 0).length / 8));
      } else if ("enqueue" in action) {
        const samples = ramp(action.enqueue, value);
        value = (value + action.enqueue) % 20_000 || 1;
        playout.enqueue(samples);
        queue.push(...samples);
      } else if ("silence" in action) {
        playout.silence(action.silence);
        queue.push(...new Array<number>(action.silence * 8).fill(0));
      } else if ("mark" in action) {
        const name = `mark ${n}`;
        marks.push({ at: queue.length, name });
        playout.mark(name, () => {
          expect(leg.sentSamples.length).toBeGreaterThanOrEqual(marks.find((mark) => mark.name === name)?.at ?? 0);
          reachedMarks.push(name);
        });
      } else if ("pull" in action) leg.pull(action.pull);
      else leg.send(action.send);
      expect(leg.sentSamples).toEqual(queue.slice(0, leg.sentSamples.length));
      expect(playout.heardMs).toBe(Math.round(queue.slice(0, heardLength).filter((sample) => sample !== 0).length / 8));
      expect(playout.queuedMs).toBe(Math.round((queue.length - heardLength) / 8));
    }
    while (leg.sentSamples.length < queue.length) {
      leg.pull(160);
      leg.send(160);
    }
    leg.report();
    expect(leg.sentSamples).toEqual(queue);
    expect(new Set(reachedMarks).size).toBe(reachedMarks.length);
    expect(playout.queuedMs).toBe(0);
  }),
);

describe("a leg that pulls ahead", () => {
  test("reaches a mark only when the samples before it are sent", () => {
    const playout = new Playout(RATE);
    const leg = new AheadLeg(playout);
    const reachedMarks: string[] = [];
    playout.enqueue(ramp(160));
    playout.mark("one", (name) => reachedMarks.push(name));
    playout.enqueue(ramp(160));
    leg.pull(320);
    leg.report();
    expect(reachedMarks).toEqual([]);
    expect(playout.heardMs).toBe(0);
    leg.send(160);
    leg.report();
    expect(reachedMarks).toEqual(["one"]);
    expect(playout.heardMs).toBe(20);
  });

  test("drops the rest when recalled; the samples already sent count as heard", () => {
    const playout = new Playout(RATE);
    const leg = new AheadLeg(playout);
    playout.enqueue(ramp(1600));
    leg.pull(1600);
    leg.send(400);
    expect(playout.clear()).toBe(50);
    expect(leg.queuedSamples).toEqual([]);
    playout.enqueue(ramp(160, 5000));
    leg.pull(160);
    expect(leg.queuedSamples[0]).toBe(5000);
  });

  test("counts sent samples when marks clear", () => {
    const playout = new Playout(RATE);
    const leg = new AheadLeg(playout);
    let heardMs = -1;
    playout.enqueue(ramp(80));
    playout.mark("stop", () => {
      heardMs = playout.clear();
    });
    playout.enqueue(ramp(800));
    leg.pull(880);
    leg.send(240);
    leg.report();
    expect(heardMs).toBe(30);
    expect(playout.heardMs).toBe(30);
    expect(playout.queuedMs).toBe(0);
  });

  test("drains when the last sample has been sent", async () => {
    const playout = new Playout(RATE);
    const leg = new AheadLeg(playout);
    let isDrained = false;
    void playout.whenDrained.then(() => {
      isDrained = true;
    });
    playout.enqueue(ramp(160));
    playout.end();
    leg.pull(160);
    leg.report();
    await Promise.resolve();
    expect(isDrained).toBe(false);
    leg.send(160);
    leg.report();
    await playout.whenDrained;
    expect(isDrained).toBe(true);
  });

  test("counts an underrun when the queue runs dry before the end", () => {
    const playout = new Playout(RATE);
    const leg = new AheadLeg(playout);
    playout.enqueue(ramp(160));
    leg.pull(160);
    leg.send(160);
    leg.report(160, true);
    expect([playout.underruns, playout.clockMs]).toEqual([1, 40]);
    playout.enqueue(ramp(160));
    playout.end();
    leg.pull(160);
    leg.send(160);
    leg.report(160, true);
    expect(playout.underruns).toBe(1);
  });
});

test("silence sent for an empty queue is reported, even when pulling ahead", () => {
  const playout = new Playout(RATE);
  const leg = new AheadLeg(playout);
  const delays: number[][] = [];
  playout.onDelay = (atMs, silenceMs) => delays.push([atMs, silenceMs]);
  leg.report(1_600);
  playout.enqueue(new Int16Array(800).fill(5));
  leg.pull(800);
  leg.send(800);
  leg.report(160, true);
  leg.report(1_600, false);
  playout.clear();
  expect(delays).toEqual([
    [0, 200],
    [300, 220],
  ]);
});
