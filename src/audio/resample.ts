import { type FilterBank, filterBank } from "./filter-bank.ts";
import { concatPcm, toSample } from "./pcm.ts";

const SLICE = 4096;
const LOWEST_RATE = 4000;
const HIGHEST_RATE = 192_000;

/**
 * Changes the sample rate of a stream with a polyphase FIR filter (P. P. Vaidyanathan, Multirate Systems, chapter 4).
 *
 * The filter's delay is taken out: output sample `n` is the input at `n * from / to`, and after {@link flush} exactly
 * `round(samples pushed * to / from)` have come out. While streaming, the last 16 samples (of the lower rate) are kept
 * until what follows them is known. With equal rates samples pass through untouched.
 */
export class Resampler {
  readonly #up: number;
  readonly #down: number;
  readonly #bank: FilterBank | undefined;
  /** Input as floats: the `reach` samples before the output's position, and what lies after it. */
  readonly #buffer: Float32Array;
  #buffered = 0;
  /** Where the next output sample lies in the buffer: whole samples and `#phase / #up` of one. */
  #position = 0;
  #phase = 0;
  #pushed = 0;
  #produced = 0;

  /**
   * Takes both rates in Hz, and how many samples it takes in at a time: the memory it needs. Throws a RangeError unless the
   * rates are whole numbers from 4000 to 192000.
   */
  constructor(from: number, to: number, slice: number = SLICE) {
    for (const rate of [from, to]) {
      if (!Number.isInteger(rate) || rate < LOWEST_RATE || rate > HIGHEST_RATE) {
        throw new RangeError(`A sample rate of ${rate} Hz cannot be converted.`);
      }
    }
    const divisor = greatestCommonDivisor(from, to);
    this.#up = to / divisor;
    this.#down = from / divisor;
    this.#bank = from === to ? undefined : filterBank(this.#up, this.#down);
    this.#buffer = new Float32Array(this.#bank ? slice + 2 * this.#bank.taps + Math.ceil(from / to) : 0);
    this.#rewind();
  }

  /** How many of the samples pushed last are kept until what follows them is known. */
  get kept(): number {
    return this.#bank?.reach ?? 0;
  }

  /** Takes the next samples and returns those that can be computed so far, in a new array or, at equal rates, the same. */
  push(samples: Int16Array): Int16Array {
    if (this.#bank === undefined) return samples;
    const output = new Int16Array(this.#take(this.#bank, samples.length));
    this.#run(this.#bank, samples, samples.length, output, output.length);
    return output;
  }

  /** Like {@link push}, without allocation: writes to the start of `into`, which must be long enough, and returns how many. */
  pushInto(samples: Int16Array, into: Int16Array): number {
    if (this.#bank === undefined) {
      into.set(samples);
      return samples.length;
    }
    const count = this.#take(this.#bank, samples.length);
    this.#run(this.#bank, samples, samples.length, into, count);
    return count;
  }

  /** Returns the samples still held, as if silence followed, and makes ready for another stream. */
  flush(): Int16Array {
    if (this.#bank === undefined) return new Int16Array(0);
    const total = Math.round((this.#pushed * this.#up) / this.#down);
    const output = new Int16Array(total - this.#produced);
    const silence = this.#bank.reach + Math.ceil(this.#down / this.#up) + 1;
    this.#run(this.#bank, undefined, silence, output, output.length);
    this.#rewind();
    return output;
  }

  #rewind(): void {
    this.#buffer.fill(0);
    this.#buffered = this.#bank?.reach ?? 0;
    this.#position = this.#buffered;
    this.#phase = 0;
    this.#pushed = 0;
    this.#produced = 0;
  }

  /** Counts samples that are pushed; answers how many can be computed that have not been. */
  #take(bank: FilterBank, pushed: number): number {
    this.#pushed += pushed;
    return Math.max(0, Math.ceil(((this.#pushed - bank.reach) * this.#up) / this.#down) - this.#produced);
  }

  /** Feeds `count` samples (zeros when there are none) and writes the first `wanted` of `output`. */
  #run(bank: FilterBank, samples: Int16Array | undefined, count: number, output: Int16Array, wanted: number): void {
    const buffer = this.#buffer;
    let read = 0;
    let written = 0;
    while (read < count) {
      const take = Math.min(count - read, buffer.length - this.#buffered);
      for (let i = 0; i < take; i++) buffer[this.#buffered + i] = samples?.[read + i] ?? 0;
      this.#buffered += take;
      read += take;
      while (this.#position + bank.reach < this.#buffered && written < wanted) {
        output[written++] = this.#sampleHere(bank);
        this.#phase += this.#down;
        const whole = Math.floor(this.#phase / this.#up);
        this.#position += whole;
        this.#phase -= whole * this.#up;
      }
      const done = Math.max(0, Math.min(this.#position - bank.reach, this.#buffered));
      buffer.copyWithin(0, done, this.#buffered);
      this.#buffered -= done;
      this.#position -= done;
    }
    this.#produced += written;
  }

  #sampleHere(bank: FilterBank): number {
    const { rows, taps } = bank;
    const buffer = this.#buffer;
    const step = bank.steps === this.#up ? this.#phase : Math.round((this.#phase * bank.steps) / this.#up);
    const row = step * taps;
    const first = this.#position - bank.reach + 1;
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) sum += rows[row + tap]! * buffer[first + tap]!;
    return toSample(sum);
  }
}

/** Changes the sample rate of a whole recording; at equal rates returns the same array. See {@link Resampler}. */
export function resample(samples: Int16Array, from: number, to: number): Int16Array {
  if (from === to) return samples;
  const resampler = new Resampler(from, to);
  return concatPcm([resampler.push(samples), resampler.flush()]);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
