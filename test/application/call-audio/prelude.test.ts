import { describe, expect, test } from "vitest";
import { Prelude } from "../../../src/application/call-audio/prelude.ts";
import { Playout } from "../../../src/audio/playout/playout.ts";

const RATE = 8_000;
const FRAME = 160;
const ones = (length: number) => new Int16Array(length).fill(1);

/** A prelude before one second of queued audio. */
function openPrelude() {
  const playout = new Playout(RATE);
  const prelude = new Prelude(playout);
  playout.enqueue(ones(RATE));
  return { playout, prelude };
}

/** Sums of the frames that a leg reads. */
function read(prelude: Prelude, frames: number): number[] {
  return Array.from({ length: frames }, () => {
    const frame = new Int16Array(FRAME);
    prelude.read(frame);
    return frame.reduce((sum, sample) => sum + sample, 0);
  });
}

describe("audio queued after a prelude", () => {
  test("waits for the prelude's end, and is heard in full", () => {
    const { playout, prelude } = openPrelude();
    expect(read(prelude, 3)).toEqual([0, 0, 0]);
    expect([playout.heardMs, playout.clockMs, prelude.lengthMs]).toEqual([0, 0, 60]);
    prelude.endAfter(40);
    expect(read(prelude, 4).slice(-1)).toEqual([FRAME]);
    read(prelude, 60);
    expect(playout.heardMs).toBe(1_000);
  });

  test("follows pauses and tones in their order", async () => {
    const { prelude } = openPrelude();
    const log: string[] = [];
    const sent = prelude
      .pause(20)
      .then(() => prelude.tones(new Int16Array(FRAME).fill(2)))
      .then(() => log.push("sent"));
    expect(read(prelude, 2)).toEqual([0, 0]);
    await Promise.resolve();
    await Promise.resolve();
    expect(read(prelude, 2)).toEqual([2 * FRAME, 0]);
    await sent;
    prelude.endAfter(0);
    expect(read(prelude, 1)).toEqual([FRAME]);
    expect(log).toEqual(["sent"]);
  });

  test("is pulled by a leg that sends ahead only once the prelude has been sent", () => {
    const { playout, prelude } = openPrelude();
    const frame = new Int16Array(FRAME);
    prelude.recall = () => {};
    prelude.endAfter(40);
    expect([prelude.pull(frame), prelude.pull(frame), prelude.pull(frame)]).toEqual([FRAME, FRAME, 0]);
    prelude.sent(FRAME, 0, false);
    expect(prelude.pull(frame)).toBe(0);
    prelude.sent(FRAME, 0, false);
    expect(prelude.pull(frame)).toBe(FRAME);
    expect(playout.heardMs).toBe(0);
    prelude.sent(FRAME, 0, false);
    expect(playout.heardMs).toBe(20);
  });

  test("is recalled from the leg only once it has been pulled", () => {
    const { playout, prelude } = openPrelude();
    let recallCount = 0;
    prelude.recall = () => void recallCount++;
    playout.clear();
    expect(recallCount).toBe(0);
    prelude.end();
    expect(recallCount).toBe(1); // by the prelude itself
    playout.clear();
    expect(recallCount).toBe(2);
  });
});
