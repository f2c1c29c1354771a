import { expect, test } from "vitest";
import { CalleeAudio } from "../../../src/application/streams/callee-audio.ts";
import { concatPcm, msToSamples } from "../../../src/audio/pcm.ts";
import { tone, toneShare } from "../../../src/audio/tone.ts";

const FRAMES = 50;

test.for([
  [8_000, 8_000, 20],
  [8_000, 16_000, 20],
  [8_000, 24_000, 20],
  [16_000, 8_000, 20],
  [16_000, 48_000, 20],
  [16_000, 16_000, 60],
  [48_000, 16_000, 60],
] as const)(
  "a leg of %i Hz is told at %i Hz as it comes, frame by frame of %i ms, without a gap",
  ([from, to, frameMs]) => {
    const told: Int16Array[] = [];
    const callee = new CalleeAudio((frame) => told.push(frame.slice()));
    callee.listen(to);
    callee.connect(from, frameMs);
    callee.start();
    const said = tone(440, FRAMES * frameMs, from, 8_000);
    const size = msToSamples(frameMs, from);
    for (let n = 0; n < FRAMES; n++) {
      callee.write(said.subarray(n * size, (n + 1) * size));
      // What a frame brings is told with it, not with the next one.
      expect(told.length).toBe(((n + 1) * frameMs) / 20);
    }
    for (const frame of told) expect(frame.length).toBe(msToSamples(20, to));
    const heard = concatPcm(told);
    expect(toneShare(heard.subarray(msToSamples(10, to)), 440, to)).toBeGreaterThan(0.999);
  },
);
