/** Zero crossings of the filter on each side, of the lower rate. */
const CROSSINGS = 4;
/** Where it cuts off, as a share of the lower rate's Nyquist frequency. */
const CUT_OFF = 0.85;
/** Samples that are taken in at a time. */
const CHUNK = 1024;

/**
 * Takes every n-th sample of a stream after a small low-pass filter: good enough to measure tones in, for a fraction of the
 * work of a `Resampler`. Allocates nothing after it was made.
 */
export class Decimator {
  /** Most samples that one {@link take} gives. */
  readonly most: number;
  readonly #factor: number;
  readonly #taps: Float64Array;
  /** The last samples that are still needed, then those taken in. */
  readonly #buffer: Float64Array;
  /** How many samples there are in the buffer, and where the next output's first tap lies. */
  #held: number;
  #next = 0;

  /** @param factor 1: samples are passed on as they are */
  constructor(factor: number) {
    this.#factor = factor;
    this.#taps = lowPass(factor);
    this.#buffer = new Float64Array(this.#taps.length + CHUNK);
    this.#held = this.#taps.length - 1;
    this.most = Math.ceil(CHUNK / factor) + 1;
  }

  /** Takes in the samples from `from` on, as far as there is room, and answers where it stopped. */
  put(frame: Int16Array, from: number): number {
    const end = Math.min(frame.length, from + this.#buffer.length - this.#held);
    for (let i = from; i < end; i++) this.#buffer[this.#held++] = frame[i]!;
    return end;
  }

  /** Writes what can be computed to the start of `into`, which holds {@link most}, and answers how much that was. */
  take(into: Float64Array): number {
    const taps = this.#taps;
    const buffer = this.#buffer;
    let count = 0;
    let at = this.#next;
    for (; at + taps.length <= this.#held; at += this.#factor) {
      let sum = 0;
      for (let tap = 0; tap < taps.length; tap++) sum += taps[tap]! * buffer[at + tap]!;
      into[count++] = sum;
    }
    const done = Math.min(at, this.#held);
    buffer.copyWithin(0, done, this.#held);
    this.#held -= done;
    this.#next = at - done;
    return count;
  }
}

/** A sinc under a Hann window, with unit gain at 0 Hz; a single tap where there is nothing to filter. */
function lowPass(factor: number): Float64Array {
  if (factor === 1) return Float64Array.of(1);
  const reach = CROSSINGS * factor;
  const taps = new Float64Array(2 * reach);
  let sum = 0;
  for (let tap = 0; tap < taps.length; tap++) {
    const distance = tap - reach + 0.5;
    const turn = (Math.PI * CUT_OFF * distance) / factor;
    taps[tap] = (Math.sin(turn) / turn) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / reach));
    sum += taps[tap]!;
  }
  return taps.map((tap) => tap / sum);
}
