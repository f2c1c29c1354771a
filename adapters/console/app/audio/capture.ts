import { toSample } from "../../../../src/audio/samples/pcm.ts";
import { Resampler } from "../../../../src/audio/samples/resample.ts";

/** Length of a frame, ms. */
const FRAME_MS = 20;
/** Maximum number of samples per conversion: the largest block that a browser passes. */
const MAX_BLOCK = 2_048;

/** Converts the microphone's audio from the device's sample rate to frames at the call's rate, for the server. */
export class Capture {
  readonly #resampler: Resampler;
  readonly #frameLength: number;
  readonly #onFrame: (frame: Int16Array<ArrayBuffer>) => void;
  /** Reused for every block. */
  readonly #block = new Int16Array(MAX_BLOCK);
  readonly #converted: Int16Array;
  #next: Int16Array<ArrayBuffer>;
  #filledSamples = 0;

  /** @param onFrame called with each complete frame; it may keep the frame */
  constructor(deviceRate: number, callRate: number, onFrame: (frame: Int16Array<ArrayBuffer>) => void) {
    this.#resampler = new Resampler(deviceRate, callRate, MAX_BLOCK);
    this.#frameLength = (callRate * FRAME_MS) / 1_000;
    this.#onFrame = onFrame;
    this.#converted = new Int16Array(Math.ceil((MAX_BLOCK * callRate) / deviceRate) + 64);
    this.#next = new Int16Array(this.#frameLength);
  }

  /** Adds the microphone's next block; samples from -1 to 1. */
  push(input: Float32Array): void {
    for (let from = 0; from < input.length; from += MAX_BLOCK) {
      const count = Math.min(MAX_BLOCK, input.length - from);
      for (let i = 0; i < count; i++) this.#block[i] = toSample(input[from + i]! * 32_768);
      this.#cut(this.#resampler.pushInto(this.#block.subarray(0, count), this.#converted));
    }
  }

  #cut(count: number): void {
    for (let i = 0; i < count; i++) {
      this.#next[this.#filledSamples++] = this.#converted[i]!;
      if (this.#filledSamples < this.#frameLength) continue;
      this.#onFrame(this.#next);
      this.#next = new Int16Array(this.#frameLength);
      this.#filledSamples = 0;
    }
  }
}
