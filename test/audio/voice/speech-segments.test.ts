import { expect, test } from "vitest";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import {
  type SpeechSegment,
  SpeechSegmenter,
  type SpeechSegmenterOptions,
} from "../../../src/audio/voice/speech-segments.ts";
import { Vad } from "../../../src/audio/voice/vad.ts";

/** Feeds a segmenter 20 ms frames: alternating pauses and voice of these lengths in ms, starting with a pause. */
function segments(
  lengths: readonly number[],
  options: Partial<SpeechSegmenterOptions> = {},
  finish = true,
): SpeechSegment[] {
  const foundSegments: SpeechSegment[] = [];
  const segmenter = new SpeechSegmenter({ sampleRate: 8000, hangOverMs: 0, ...options }, (segment) =>
    foundSegments.push(segment),
  );
  for (const [i, ms] of lengths.entries()) {
    for (let pushedMs = 0; pushedMs < ms; pushedMs += 20) segmenter.push(i % 2 === 1, 160);
  }
  if (finish) segmenter.finish();
  return foundSegments;
}

test("a segment is reported once the pause after it is long enough", () => {
  expect(segments([200, 400, 280], {}, false)).toEqual([]);
  expect(segments([200, 400, 300], {}, false)).toEqual([{ startMs: 200, endMs: 600 }]);
});

test("pauses shorter than 300 ms join segments; longer ones separate them", () => {
  expect(segments([0, 200, 280, 200, 300, 200])).toEqual([
    { startMs: 0, endMs: 680 },
    { startMs: 980, endMs: 1180 },
  ]);
});

test("less than 100 ms of voice is not a segment, even if spread out", () => {
  expect(segments([500, 80, 500])).toEqual([]);
  expect(segments([500, 40, 200, 40, 500])).toEqual([]);
  expect(segments([500, 100, 500])).toEqual([{ startMs: 500, endMs: 600 }]);
});

test("the VAD's hang-over is subtracted from the voice's end and length", () => {
  expect(segments([100, 320, 600], { hangOverMs: 120 })).toEqual([{ startMs: 100, endMs: 300 }]);
  expect(segments([100, 200, 600], { hangOverMs: 120 })).toEqual([]);
  expect(segments([100, 200, 280, 200, 600], { hangOverMs: 120, joinGapMs: 400 }), "a real pause of 400 ms").toEqual(
    [],
  );
});

test("finish() reports the open segment once", () => {
  const foundSegments: SpeechSegment[] = [];
  const segmenter = new SpeechSegmenter({ sampleRate: 8000 }, (segment) => foundSegments.push(segment));
  segmenter.push(true, 1600);
  segmenter.finish();
  segmenter.finish();
  expect(foundSegments).toEqual([{ startMs: 0, endMs: 200 }]);
});

test("the minimum lengths are configurable", () => {
  const options = { minSpeechMs: 300, joinGapMs: 100 };
  expect(segments([0, 280, 200, 300, 100], options)).toEqual([{ startMs: 480, endMs: 780 }]);
});

test("two words detected by the VAD are two segments at the right times", () => {
  const pause = new Int16Array(8000);
  const word = tone(250, 400, 8000, 6000);
  const samples = concatPcm([pause, word, pause, word, pause]);
  const foundSegments: SpeechSegment[] = [];
  const segmenter = new SpeechSegmenter({ sampleRate: 8000 }, (segment) => foundSegments.push(segment));
  const vad = new Vad(8000);
  for (let at = 0; at < samples.length; at += 160) segmenter.push(vad.push(samples.subarray(at, at + 160)), 160);
  expect(foundSegments).toEqual([
    { startMs: 1000, endMs: 1400 },
    { startMs: 2400, endMs: 2800 },
  ]);
});
