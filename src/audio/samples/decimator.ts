/** Number of zero crossings of the filter on each side, at the lower rate. */
const CROSSINGS = 4;
/** Cut-off, as a share of the lower rate's Nyquist frequency. */
const CUTOFF = 0.85;

/**
 * Takes every n-th sample after a small low-pass filter: good enough to measure tones, for a fraction of the work of a
 * `Resampler`. Stateless, and allocates nothing once created.
 */
export class Decimator {
  /** Number of samples needed before the first sample. */
  readonly history: number;
  readonly #factor: number;
  readonly #taps: Float64Array;

  /** @param factor 1 passes samples on unchanged */
  constructor(factor: number) {
    this.#factor = factor;
    this.#taps = lowPass(factor);
    this.history = this.#taps.length - 1;
  }

  /** Fills `output`. `samples` holds the {@link history}, then `output.length` × factor samples. */
  run(samples: Float64Array, output: Float64Array): void {
    const taps = this.#taps;
    const half = taps.length >> 1;
    for (let i = 0, at = 0; i < output.length; i++, at += this.#factor) {
      const last = at + this.history;
      let sum = half === 0 ? samples[at]! : 0;
      // The filter is symmetric.
      for (let tap = 0; tap < half; tap++) sum += taps[tap]! * (samples[at + tap]! + samples[last - tap]!);
      output[i] = sum;
    }
  }
}

/** A sinc under a Hann window, with unit gain at 0 Hz; a single tap if there is no filter. */
function lowPass(factor: number): Float64Array {
  if (factor === 1) return Float64Array.of(1);
  const reach = CROSSINGS * factor;
  const taps = new Float64Array(2 * reach);
  let sum = 0;
  for (let tap = 0; tap < taps.length; tap++) {
    const distance = tap - reach + 0.5;
    const turn = (Math.PI * CUTOFF * distance) / factor;
    taps[tap] = (Math.sin(turn) / turn) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / reach));
    sum += taps[tap]!;
  }
  return taps.map((tap) => tap / sum);
}
