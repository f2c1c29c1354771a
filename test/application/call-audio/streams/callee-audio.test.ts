import { describe, expect, test } from "vitest";
import { CalleeAudio } from "../../../../src/application/call-audio/streams/callee-audio.ts";
import { concatPcm } from "../../../../src/audio/samples/pcm.ts";
import { Resampler, resample } from "../../../../src/audio/samples/resample.ts";
import { STREAM_RATES } from "../../../../src/audio/samples/stream-format.ts";
import { tone } from "../../../../src/audio/tones/tone.ts";

/** A leg's inbound audio on its way to a client. */
class InboundPath {
  readonly frames: Int16Array[] = [];
  readonly audio: CalleeAudio = new CalleeAudio((frame) => this.frames.push(frame.slice()));
  readonly #legFrame: number;

  constructor(legRate: number, rate: number | undefined, frameMs = 20) {
    this.#legFrame = (legRate * frameMs) / 1000;
    this.audio.connect(legRate, frameMs);
    this.audio.setClientRate(rate);
    this.audio.start();
  }

  /** The leg's clock: sends a frame in two parts, and may receive one. */
  tick(inbound?: Int16Array): void {
    this.audio.addPlayedSamples(this.#legFrame - 3);
    this.audio.addPlayedSamples(3);
    if (inbound) this.audio.write(inbound);
  }

  say(samples: Int16Array): void {
    for (let at = 0; at + this.#legFrame <= samples.length; at += this.#legFrame)
      this.tick(samples.subarray(at, at + this.#legFrame));
  }

  get heard(): Int16Array {
    return concatPcm(this.frames);
  }
}

const PAIRS = [8_000, 16_000, 48_000].flatMap((leg) => STREAM_RATES.map((rate) => [leg, rate] as const));

describe.each(PAIRS)("a leg at %i Hz and a client that requests %i Hz", (leg, rate) => {
  const words = tone(440, 1_000, leg, 9_000);
  /** The resampler's delay: 16 samples at the lower rate, as whole samples on each side. */
  const delaySamples = Math.ceil((new Resampler(leg, rate).heldSamples * rate) / leg);

  test("every frame of the leg becomes frames of 20 ms without a seam", () => {
    const path = new InboundPath(leg, rate);
    for (let n = 0; n < 50; n++) {
      path.say(words.subarray((n * leg) / 50, ((n + 1) * leg) / 50));
      expect(path.frames.length).toBe(n + 1);
    }
    expect(path.frames.every((frame) => frame.length === rate / 50)).toBe(true);
    const expected = concatPcm([new Int16Array(delaySamples), resample(words, leg, rate)]);
    expect(path.heard).toEqual(expected.subarray(0, rate));
  });

  test("frames of 60 ms become three of 20 ms each", () => {
    const path = new InboundPath(leg, rate, 60);
    path.say(words.subarray(0, (leg * 960) / 1000));
    expect(path.frames.length).toBe(48);
    const expected = concatPcm([new Int16Array(delaySamples), resample(words, leg, rate)]);
    expect(path.heard).toEqual(expected.subarray(0, (rate * 960) / 1000));
  });

  test("missing audio becomes silence of the same length", () => {
    const path = new InboundPath(leg, rate);
    for (let n = 0; n < 10; n++) path.tick();
    path.say(words);
    // The first audio arrived with the eleventh outgoing frame.
    expect(path.frames.length).toBe(60);
    const input = concatPcm([new Int16Array((10 * leg) / 50), words]);
    const expected = concatPcm([new Int16Array(delaySamples), resample(input, leg, rate)]);
    expect(path.heard).toEqual(expected.subarray(0, (60 * rate) / 50));
  });
});

test("no frame is passed on before the answer, or without a client", () => {
  const path = new InboundPath(8_000, undefined);
  path.say(tone(440, 200, 8_000, 9_000));
  expect(path.frames).toEqual([]);
  const earlyFrames: Int16Array[] = [];
  const audio = new CalleeAudio((frame) => earlyFrames.push(frame));
  audio.connect(8_000, 20);
  audio.setClientRate(8_000);
  audio.write(new Int16Array(160));
  audio.addPlayedSamples(160);
  expect(earlyFrames).toEqual([]);
});

test("a client that reconnects at another rate receives the callee at that rate", () => {
  const path = new InboundPath(16_000, 8_000);
  const words = tone(440, 400, 16_000, 9_000);
  path.say(words.subarray(0, 3_200));
  path.audio.setClientRate(undefined);
  path.say(words.subarray(0, 3_200));
  expect(path.frames.length).toBe(10);
  path.audio.setClientRate(48_000);
  path.say(words.subarray(3_200));
  const laterFrames = path.frames.slice(10);
  expect(laterFrames.length).toBe(10);
  expect(laterFrames.every((frame) => frame.length === 960)).toBe(true);
  const expected = concatPcm([new Int16Array(48), resample(words.subarray(3_200), 16_000, 48_000)]);
  expect(concatPcm(laterFrames)).toEqual(expected.subarray(0, 9_600));
});
