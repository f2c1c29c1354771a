import fc from "fast-check";
import { expect, test } from "vitest";
import { AlignedChannels, type AlignmentOptions } from "../../../src/audio/playout/aligned-channels.ts";
import { fuzz } from "../../support/fuzz.ts";

const RATE = 400;
const FRAME_MS = 20;
const FRAME = (RATE * FRAME_MS) / 1000;

/** Channels that advance in one clock tick; both by default. */
interface Tick {
  readonly left?: boolean;
  readonly right?: boolean;
}

/** A recording whose samples show their tick: 1 for tick 0, 2 for tick 1, and 0 for silence. */
class ChannelRecorder {
  readonly left: number[] = [];
  readonly right: number[] = [];
  readonly channels: AlignedChannels;
  #now = 1_000;
  readonly #frame = new Int16Array(FRAME);

  constructor(options?: AlignmentOptions) {
    const take = (left: Int16Array, right: Int16Array, samples: number): void => {
      for (let i = 0; i < samples; i++) this.left.push(left[i]!);
      for (let i = 0; i < samples; i++) this.right.push(right[i]!);
    };
    this.channels = new AlignedChannels(RATE, FRAME_MS, take, options);
  }

  wait(ms: number): void {
    this.#now += ms;
  }

  receive(side: "left" | "right", tick: number): void {
    this.channels[side === "left" ? "pushLeft" : "pushRight"](this.#frame.fill(tick + 1), 0, FRAME, this.#now);
  }

  /** Plays the ticks, in the order of a simulated leg (`out` before `in`) or of a network. */
  play(ticks: readonly Tick[], outgoingFirst: boolean): this {
    for (const [at, tick] of ticks.entries()) {
      this.wait(FRAME_MS);
      const { left = true, right = true } = tick;
      if (outgoingFirst && left) this.receive("left", at);
      if (right) this.receive("right", at);
      if (!outgoingFirst && left) this.receive("left", at);
    }
    this.channels.finish();
    return this;
  }

  /** Largest distance, in frames, between a channel's samples and their tick. */
  skew(channel: readonly number[]): number {
    return Math.max(0, ...[...starts(channel)].map(([tick, at]) => Math.abs(at - tick * FRAME) / FRAME));
  }

  /** Every non-silent sample, once per frame. */
  frames(channel: readonly number[]): number[] {
    return [...starts(channel).keys()];
  }
}

/** The position at which each tick's samples start. */
function starts(channel: readonly number[]): Map<number, number> {
  const positions = new Map<number, number>();
  for (const [at, sample] of channel.entries())
    if (sample > 0 && sample !== channel[at - 1]) positions.set(sample - 1, at);
  return positions;
}

const ticks = (count: number, gaps: { side: "left" | "right"; from: number; length: number }[] = []): Tick[] =>
  Array.from({ length: count }, (_, at) => {
    const isSilent = (side: string) =>
      gaps.some((gap) => gap.side === side && at >= gap.from && at < gap.from + gap.length);
    return { left: !isSilent("left"), right: !isSilent("right") };
  });

for (const outgoingFirst of [true, false]) {
  const order = outgoingFirst ? "outgoing first" : "incoming first";

  test(`two running clocks stay aligned to the sample (${order})`, () => {
    const recorder = new ChannelRecorder().play(ticks(500), outgoingFirst);
    expect(recorder.left).toHaveLength(500 * FRAME);
    expect(recorder.right).toHaveLength(500 * FRAME);
    expect(recorder.skew(recorder.left)).toBe(0);
    expect(recorder.skew(recorder.right)).toBe(0);
  });

  test(`a channel is silent before its first samples (${order})`, () => {
    const recorder = new ChannelRecorder().play(ticks(300, [{ side: "right", from: 0, length: 137 }]), outgoingFirst);
    expect(recorder.right).toHaveLength(300 * FRAME);
    expect(recorder.right.slice(0, 136 * FRAME).every((sample) => sample === 0)).toBe(true);
    expect(recorder.skew(recorder.right)).toBeLessThanOrEqual(1);
    expect(recorder.frames(recorder.right)[0]).toBe(137);
  });

  test(`a channel without any samples is silent for the whole call (${order})`, () => {
    const recorder = new ChannelRecorder().play(ticks(100, [{ side: "right", from: 0, length: 100 }]), outgoingFirst);
    expect(recorder.right).toEqual(new Array(100 * FRAME).fill(0));
  });

  test(`a channel that pauses and resumes stays aligned (${order})`, () => {
    for (const length of [1, 2, 5, 40, 49, 50, 51, 60, 400]) {
      for (const side of ["left", "right"] as const) {
        const recorder = new ChannelRecorder().play(ticks(700, [{ side, from: 100, length }]), outgoingFirst);
        expect(Math.abs(recorder.left.length - 700 * FRAME)).toBeLessThanOrEqual(FRAME);
        expect(recorder.right.length).toBe(recorder.left.length);
        expect(recorder.skew(recorder.left), `${side} stops for ${length} frames`).toBeLessThanOrEqual(1);
        expect(recorder.skew(recorder.right), `${side} stops for ${length} frames`).toBeLessThanOrEqual(1);
      }
    }
  });

  test(`many short pauses do not add up (${order})`, () => {
    const gaps = Array.from({ length: 100 }, (_, at) => ({ side: "left" as const, from: 20 + at * 25, length: 7 }));
    const recorder = new ChannelRecorder().play(ticks(3_000, gaps), outgoingFirst);
    expect(recorder.skew(recorder.left)).toBeLessThanOrEqual(1);
    expect(recorder.skew(recorder.right)).toBeLessThanOrEqual(1);
    expect(Math.abs(recorder.left.length - 3_000 * FRAME)).toBeLessThanOrEqual(FRAME);
  });
}

test("samples that are late because the thread was blocked are put in place", () => {
  for (const lateSide of ["left", "right"] as const) {
    for (const stoppedTicks of [3, 10, 49, 200, 1_000]) {
      const recorder = new ChannelRecorder();
      const punctualSide = lateSide === "left" ? "right" : "left";
      let tick = 0;
      const run = (frames: number) => {
        for (const end = tick + frames; tick < end; tick++) {
          recorder.wait(FRAME_MS);
          recorder.receive("left", tick);
          recorder.receive("right", tick);
        }
      };
      run(100);
      for (let round = 0; round < 5; round++) {
        recorder.wait(stoppedTicks * FRAME_MS);
        for (let at = 0; at < stoppedTicks; at++) recorder.receive(punctualSide, tick + at);
        recorder.wait(1);
        for (let at = 0; at < stoppedTicks; at++) recorder.receive(lateSide, tick + at);
        tick += stoppedTicks;
        run(80);
      }
      recorder.channels.finish();
      expect(recorder.skew(recorder.left), `${stoppedTicks} frames of ${lateSide}`).toBeLessThanOrEqual(1);
      expect(recorder.skew(recorder.right), `${stoppedTicks} frames of ${lateSide}`).toBeLessThanOrEqual(1);
      expect(recorder.frames(recorder[lateSide])).toEqual(Array.from({ length: tick }, (_, at) => at));
    }
  }
});

/** Options as for listeners of a live call. */
const LIVE_OPTIONS: AlignmentOptions = { blockMs: FRAME_MS, silentAfterMs: 60 };

test("a pause in one channel delays the other one by little more than silentAfterMs", () => {
  for (const side of ["left", "right"] as const)
    for (const length of [1, 2, 3, 10, 50, 100]) {
      const recorder = new ChannelRecorder(LIVE_OPTIONS);
      const delays = ticks(300, [{ side, from: 100, length }]).map(({ left, right }, tick) => {
        recorder.wait(FRAME_MS);
        if (left) recorder.receive("left", tick);
        if (right) recorder.receive("right", tick);
        return (tick + 1) * FRAME_MS - (recorder.left.length * 1000) / RATE;
      });
      expect(Math.max(...delays), `${side} stops for ${length} frames`).toBeLessThanOrEqual(60 + 2 * FRAME_MS);
      expect(delays.at(-1), `${side} stops for ${length} frames`).toBeLessThanOrEqual(FRAME_MS);
      recorder.channels.finish();
      expect(recorder.skew(recorder.left)).toBeLessThanOrEqual(1);
      expect(recorder.skew(recorder.right)).toBeLessThanOrEqual(1);
    }
});

test("a blocked thread does not count as a pause for silentAfterMs", () => {
  const recorder = new ChannelRecorder(LIVE_OPTIONS);
  for (let tick = 0, frames = 1; tick < 200; tick += frames) {
    frames = tick < 50 ? 1 : 10;
    recorder.wait(frames * FRAME_MS);
    for (let at = tick; at < tick + frames; at++) recorder.receive("left", at);
    for (let at = tick; at < tick + frames; at++) recorder.receive("right", at);
  }
  recorder.channels.finish();
  expect(recorder.skew(recorder.left)).toBeLessThanOrEqual(1);
  expect(recorder.skew(recorder.right)).toBeLessThanOrEqual(1);
});

test("a frame may be added in pieces", () => {
  const recorder = new ChannelRecorder();
  const halfFrame = new Int16Array(FRAME / 2);
  for (let tick = 0; tick < 200; tick++) {
    recorder.channels.pushLeft(halfFrame.fill(tick + 1), 0, FRAME / 2, tick * FRAME_MS);
    recorder.channels.pushLeft(halfFrame, 0, FRAME / 2, tick * FRAME_MS);
    recorder.channels.pushRight(undefined, 0, FRAME, tick * FRAME_MS);
  }
  recorder.channels.finish();
  expect(recorder.skew(recorder.left)).toBe(0);
  expect(recorder.right.length - 200 * FRAME).toBeLessThanOrEqual(FRAME);
});

const stops = fc.array(
  fc.record({ after: fc.integer({ min: 0, max: 150 }), length: fc.integer({ min: 1, max: 150 }) }),
  { maxLength: 8 },
);

fuzz(
  "random pauses never move a channel by more than a frame",
  fc.property(
    stops,
    fc.constantFrom("left" as const, "right" as const),
    fc.boolean(),
    (stopTicks, side, outgoingFirst) => {
      let at = 60; // after the start
      const gaps = stopTicks.map(({ after, length }) => {
        const from = at + after;
        at = from + length;
        return { side, from, length };
      });
      const recorder = new ChannelRecorder().play(ticks(at + 60, gaps), outgoingFirst);
      expect(recorder.skew(recorder.left)).toBeLessThanOrEqual(1);
      expect(recorder.skew(recorder.right)).toBeLessThanOrEqual(1);
      expect(Math.abs(recorder.left.length - (at + 60) * FRAME)).toBeLessThanOrEqual(FRAME);
    },
  ),
);

const side = fc.constantFrom("left", "right");
const step = fc.record({ side, pieces: fc.integer({ min: 0, max: 400 }), waitMs: fc.integer({ min: 0, max: 3_000 }) });

fuzz(
  "channels are equally long, and no sample is lost, doubled or reordered",
  fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const output: { left: number[]; right: number[] } = { left: [], right: [] };
    const input: { left: number[]; right: number[] } = { left: [], right: [] };
    const channels = new AlignedChannels(RATE, FRAME_MS, (left, right, samples) => {
      output.left.push(...left.subarray(0, samples));
      output.right.push(...right.subarray(0, samples));
    });
    let now = 0;
    let next = 0;
    for (const { side, pieces, waitMs } of steps) {
      now += waitMs;
      const samples = Int16Array.from({ length: pieces + 3 }, () => (next++ % 30_000) + 1);
      channels[side === "left" ? "pushLeft" : "pushRight"](samples, 3, pieces, now);
      input[side].push(...samples.subarray(3));
    }
    channels.finish();
    expect(output.left.length).toBe(output.right.length);
    expect(output.left.filter((sample) => sample !== 0)).toEqual(input.left);
    expect(output.right.filter((sample) => sample !== 0)).toEqual(input.right);
    expect(output.left.length).toBeLessThanOrEqual(input.left.length + input.right.length);
  }),
);
