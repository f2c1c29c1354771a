import { Resampler } from "../../../../src/audio/resample.ts";
import { FRAME_MS } from "../../media-clock.ts";

/**
 * Changes the rate of a stream of frames, a whole frame for every frame and nothing allocated, at the price of 2 ms of
 * delay. At equal rates frames come out as they are.
 */
export class FrameResampler {
  readonly #resampler: Resampler;
  readonly #from: number;
  readonly #to: number;

  /** Takes both rates in Hz; one must be a multiple of the other. */
  constructor(from: number, to: number) {
    this.#from = from;
    this.#to = to;
    this.#resampler = new Resampler(from, to, (from * FRAME_MS) / 1000);
    this.#resampler.push(new Int16Array(this.#resampler.kept)); // from now on as many come out as go in
  }

  /** Writes the next frame to `into`; both are of the same length in ms. Answers `into`, or `frame` at equal rates. */
  convert(frame: Int16Array, into: Int16Array): Int16Array {
    if (this.#from === this.#to) return frame;
    this.#resampler.pushInto(frame, into);
    return into;
  }
}
