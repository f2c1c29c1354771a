import { concatPcm } from "../../src/audio/samples/pcm.ts";
import { Resampler } from "../../src/audio/samples/resample.ts";
import type { DecodedPiece } from "./piece-decoder.ts";

/** True if the samples fill their whole buffer, which no other thread shares. */
const isWhole = (samples: Int16Array): samples is Int16Array<ArrayBuffer> =>
  samples.buffer instanceof ArrayBuffer && samples.byteLength === samples.buffer.byteLength;

/** Collects the pieces of a file at one sample rate. */
export class ResampledPieces {
  readonly #sampleRate: number;
  readonly #pieces: Int16Array[] = [];
  #rate = 0;
  #resampler: Resampler | undefined;

  /** @param sampleRate rate of the result, Hz */
  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  /** Adds the next piece; concatenated files may have different rates. */
  push({ samples, sampleRate }: DecodedPiece): void {
    if (this.#resampler === undefined || sampleRate !== this.#rate) {
      if (this.#resampler) this.#pieces.push(this.#resampler.flush());
      this.#resampler = new Resampler(sampleRate, this.#sampleRate);
      this.#rate = sampleRate;
    }
    this.#pieces.push(this.#resampler.push(samples));
  }

  /** The whole audio, once all pieces have been added. */
  finish(): Int16Array<ArrayBuffer> {
    if (this.#resampler) this.#pieces.push(this.#resampler.flush());
    const [samples, ...others] = this.#pieces.filter(({ length }) => length > 0);
    // A short file is one piece, which needs no copy.
    if (samples && others.length === 0 && isWhole(samples)) return samples;
    return concatPcm(this.#pieces);
  }
}
