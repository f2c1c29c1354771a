import { msToSamples } from "../../src/audio/pcm.ts";

/** Quieter than this is silence: 46 dB below full scale, above the noise of the engines and below any speech. */
const LOUDEST_SILENCE = 160;
const KEPT_MS = 40;

/**
 * Shortens the silence before the first word to 40 ms. It takes the pieces of a stream and returns them shortened: empty
 * during the silence, unchanged after the first sound.
 */
export class LeadingSilence {
  readonly #kept: number;
  #held = new Int16Array(0);
  #isAudible = false;

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#kept = msToSamples(KEPT_MS, sampleRate);
  }

  push(samples: Int16Array): Int16Array {
    if (this.#isAudible) return samples;
    const onset = samples.findIndex((sample) => Math.abs(sample) > LOUDEST_SILENCE);
    const silence = onset < 0 ? samples : samples.subarray(0, onset);
    const held = new Int16Array(Math.min(this.#kept, this.#held.length + silence.length));
    const fromPiece = silence.subarray(Math.max(0, silence.length - held.length));
    held.set(fromPiece, held.length - fromPiece.length);
    held.set(this.#held.subarray(this.#held.length - (held.length - fromPiece.length)), 0);
    this.#held = held;
    if (onset < 0) return new Int16Array(0);
    this.#isAudible = true;
    const out = new Int16Array(held.length + samples.length - onset);
    out.set(held, 0);
    out.set(samples.subarray(onset), held.length);
    return out;
  }
}
