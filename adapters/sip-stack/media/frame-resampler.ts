import { FRAME_MS, Resampler, SAMPLE } from "../ports.ts";

/**
 * Resamples a stream of frames, one output frame for each input frame, without allocating; adds 2 ms of delay. At equal
 * rates, frames pass through unchanged.
 */
export class FrameResampler {
  readonly #resampler: Resampler;
  readonly #fromRate: number;
  readonly #to: number;
  /** Marks of the samples that the resampler holds back, then of the current frame. */
  readonly #marks: Uint8Array;
  /** True if the samples that the resampler holds back were received. */
  #isPlain = true;

  /** Resamples between two rates in Hz, one of which must be a multiple of the other. */
  constructor(from: number, to: number) {
    this.#fromRate = from;
    this.#to = to;
    this.#resampler = new Resampler(from, to, (from * FRAME_MS) / 1000);
    // Filled once, so that each input frame yields a whole output frame.
    this.#resampler.push(new Int16Array(this.#resampler.heldSamples));
    this.#marks = new Uint8Array(this.#resampler.heldSamples + (from * FRAME_MS) / 1000).fill(SAMPLE.received);
  }

  /** Writes the next frame to `output`; both have the same length in ms. Returns `output`, or `frame` at equal rates. */
  convert(frame: Int16Array, output: Int16Array): Int16Array {
    if (this.#fromRate === this.#to) return frame;
    this.#resampler.pushInto(frame, output);
    return output;
  }

  /**
   * Writes the marks of the next frame (see {@link SAMPLE}) to `output`, in step with {@link convert}. Returns them in
   * the same way.
   *
   * @param marks undefined if all of the frame was received, which is also the result for such a frame
   */
  convertMarks(marks: Uint8Array | undefined, output: Uint8Array): Uint8Array | undefined {
    if (this.#fromRate === this.#to) return marks;
    const hadPlainSamples = this.#isPlain;
    this.#isPlain = marks === undefined;
    if (marks === undefined && hadPlainSamples) return undefined;
    const pendingMarks = this.#marks;
    const { heldSamples } = this.#resampler;
    pendingMarks.copyWithin(0, pendingMarks.length - heldSamples);
    if (marks === undefined) pendingMarks.fill(SAMPLE.received, heldSamples);
    else for (let i = 0; i < marks.length; i++) pendingMarks[heldSamples + i] = marks[i]!;
    const step = this.#fromRate / this.#to;
    for (let i = 0; i < output.length; i++)
      output[i] = markOf(pendingMarks, Math.floor(i * step), Math.ceil((i + 1) * step));
    return output;
  }
}

/** The mark of a sample made of these samples: filled in if any of them is. */
function markOf(marks: Uint8Array, from: number, end: number): number {
  let mark: number = SAMPLE.received;
  for (let i = from; i < end; i++) {
    if (marks[i] === SAMPLE.filledIn) return SAMPLE.filledIn;
    if (marks[i] === SAMPLE.afterPause) mark = SAMPLE.afterPause;
  }
  return mark;
}
