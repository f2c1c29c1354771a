import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CallTaps } from "../../../src/application/call-audio/call-tap.ts";
import { SAMPLE } from "../../../src/ports/media.ts";

const RATE = 8_000;

/** Frames that a tap gets for these marks; every sample is 7. */
function passThrough(frames: readonly (Uint8Array | undefined)[], length: number) {
  const output = { frame: [] as number[], received: [] as number[], marks: [] as (number | undefined)[] };
  const taps = new CallTaps(RATE, [
    {
      inbound(frame, received, marks) {
        expect(frame.length).toBeLessThanOrEqual(160);
        expect(received.length).toBe(frame.length);
        output.frame.push(...frame);
        output.received.push(...received);
        for (let i = 0; i < frame.length; i++) output.marks.push(marks?.[i]);
      },
    },
  ]);
  for (const marks of frames) taps.write(new Int16Array(length).fill(7), marks);
  return output;
}

describe("a call's taps", () => {
  test("get silence instead of samples that were not received, and each sample's mark", () => {
    const mark = fc.constantFrom(SAMPLE.filledIn, SAMPLE.received, SAMPLE.afterPause);
    const frames = fc.constantFrom(80, 160, 240, 480, 500).chain((length) =>
      fc.record({
        length: fc.constant(length),
        frames: fc.array(
          fc.option(
            fc.array(mark, { minLength: length, maxLength: length }).map((marks) => Uint8Array.from(marks)),
            { nil: undefined },
          ),
          { minLength: 1, maxLength: 4 },
        ),
      }),
    );
    fc.assert(
      fc.property(frames, ({ length, frames }) => {
        const marks = frames.flatMap((marks) => [...(marks ?? new Uint8Array(length).fill(SAMPLE.received))]);
        const output = passThrough(frames, length);
        expect(output.frame).toEqual(marks.map(() => 7));
        expect(output.received).toEqual(marks.map((mark) => (mark === SAMPLE.filledIn ? 0 : 7)));
        expect(output.marks.map((mark) => mark ?? SAMPLE.received)).toEqual(marks);
      }),
    );
  });

  test("get no marks for a fully received frame", () => {
    expect(
      passThrough([undefined, new Uint8Array(160).fill(SAMPLE.received)], 160).marks.every(
        (mark) => mark === undefined,
      ),
    ).toBe(true);
  });
});
