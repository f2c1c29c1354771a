import { type FilterBank, filterBank } from "../tones/filter-bank.ts";
import { concatPcm, toSample } from "./pcm.ts";

const SLICE = 4096;
/**
 * Maximum number of phases with which outputs of the same phase lie close enough together to be computed four at a
 * time.
 */
const FEW_PHASES = 6;
const MIN_RATE = 4000;
const MAX_RATE = 192_000;

/**
 * Changes the sample rate of a stream with a polyphase FIR filter (P. P. Vaidyanathan, Multirate Systems, chapter 4).
 *
 * The filter's delay is taken out: output sample `n` is the input at `n * from / to`, and after {@link flush} exactly
 * `round(samples pushed * to / from)` samples are output. While streaming, the last 16 samples (of the lower rate) are
 * held back until the next ones arrive. At equal rates, samples pass through unchanged.
 */
export class Resampler {
  readonly #upFactor: number;
  readonly #downFactor: number;
  readonly #filterBank: FilterBank | undefined;
  /** Input as floats: the `reach` samples before the output position, and all after it. */
  readonly #buffer: Float64Array;
  #bufferedSamples = 0;
  /** Position of the next output sample in the buffer: whole samples and `#phase / #upFactor` of one. */
  #position = 0;
  #phase = 0;
  #pushedSamples = 0;
  #producedSamples = 0;

  /**
   * @param from input rate, Hz
   * @param to output rate, Hz
   * @param slice number of samples processed at a time, which determines the memory used
   * @throws {RangeError} unless both rates are whole numbers from 4000 to 192000
   */
  constructor(from: number, to: number, slice: number = SLICE) {
    for (const rate of [from, to]) {
      if (!Number.isInteger(rate) || rate < MIN_RATE || rate > MAX_RATE) {
        throw new RangeError(`the sample rate is ${rate} Hz: it cannot be converted`);
      }
    }
    const divisor = greatestCommonDivisor(from, to);
    this.#upFactor = to / divisor;
    this.#downFactor = from / divisor;
    this.#filterBank = from === to ? undefined : filterBank(this.#upFactor, this.#downFactor);
    this.#buffer = new Float64Array(this.#filterBank ? slice + 2 * this.#filterBank.taps + Math.ceil(from / to) : 0);
    this.#rewind();
  }

  /** Number of pushed samples that are held until more arrive. */
  get heldSamples(): number {
    return this.#filterBank?.reach ?? 0;
  }

  /**
   * Adds the next samples and returns all output computable so far, in a new array or, at equal rates, in the same
   * array.
   */
  push(samples: Int16Array): Int16Array {
    if (this.#filterBank === undefined) return samples;
    const output = new Int16Array(this.#countOutput(this.#filterBank, samples.length));
    this.#run(this.#filterBank, samples, samples.length, output, output.length);
    return output;
  }

  /**
   * Like {@link push}, without allocation: writes to the start of `into`, which must be long enough, and returns the
   * number of samples.
   */
  pushInto(samples: Int16Array, output: Int16Array): number {
    if (this.#filterBank === undefined) {
      output.set(samples);
      return samples.length;
    }
    const count = this.#countOutput(this.#filterBank, samples.length);
    this.#run(this.#filterBank, samples, samples.length, output, count);
    return count;
  }

  /** Counts samples as pushed without computing their output, so that the stream continues after them. */
  skip(samples: Int16Array): void {
    if (this.#filterBank === undefined) return;
    const { reach } = this.#filterBank;
    const buffer = this.#buffer;
    const skippedCount = this.#countOutput(this.#filterBank, samples.length);
    const steps = this.#phase + skippedCount * this.#downFactor;
    const position = this.#position + Math.floor(steps / this.#upFactor);
    const consumedCount = Math.max(0, Math.min(position - reach, this.#bufferedSamples + samples.length));
    const keptCount = Math.max(0, this.#bufferedSamples - consumedCount);
    buffer.copyWithin(0, this.#bufferedSamples - keptCount, this.#bufferedSamples);
    const from = Math.max(0, consumedCount - this.#bufferedSamples);
    for (let i = from; i < samples.length; i++) buffer[keptCount + i - from] = samples[i]!;
    this.#bufferedSamples += samples.length - consumedCount;
    this.#position = position - consumedCount;
    this.#phase = steps % this.#upFactor;
    this.#producedSamples += skippedCount;
  }

  /** Returns the samples still held, as if silence followed, and resets for another stream. */
  flush(): Int16Array {
    if (this.#filterBank === undefined) return new Int16Array(0);
    const total = Math.round((this.#pushedSamples * this.#upFactor) / this.#downFactor);
    const output = new Int16Array(total - this.#producedSamples);
    const silence = this.#filterBank.reach + Math.ceil(this.#downFactor / this.#upFactor) + 1;
    this.#run(this.#filterBank, undefined, silence, output, output.length);
    this.#rewind();
    return output;
  }

  #rewind(): void {
    this.#buffer.fill(0);
    this.#bufferedSamples = this.#filterBank?.reach ?? 0;
    this.#position = this.#bufferedSamples;
    this.#phase = 0;
    this.#pushedSamples = 0;
    this.#producedSamples = 0;
  }

  /** Counts pushed samples; returns the number of new output samples that can be computed. */
  #countOutput(bank: FilterBank, addedCount: number): number {
    this.#pushedSamples += addedCount;
    return Math.max(
      0,
      Math.ceil(((this.#pushedSamples - bank.reach) * this.#upFactor) / this.#downFactor) - this.#producedSamples,
    );
  }

  /** Feeds `count` samples (zeros if there are none) and writes output samples up to `limit`. */
  #run(bank: FilterBank, samples: Int16Array | undefined, count: number, output: Int16Array, limit: number): void {
    const buffer = this.#buffer;
    let writtenCount = 0;
    for (let inputAt = 0; inputAt < count; ) {
      const from = this.#bufferedSamples;
      const copyCount = Math.min(count - inputAt, buffer.length - from);
      if (samples === undefined) buffer.fill(0, from, from + copyCount);
      else for (let i = 0; i < copyCount; i++) buffer[from + i] = samples[inputAt + i]!;
      this.#bufferedSamples += copyCount;
      inputAt += copyCount;
      if (this.#upFactor <= FEW_PHASES) writtenCount = this.#computeBlocks(bank, output, writtenCount, limit);
      writtenCount = this.#compute(bank, output, writtenCount, limit);
      const consumedCount = Math.max(0, Math.min(this.#position - bank.reach, this.#bufferedSamples));
      buffer.copyWithin(0, consumedCount, this.#bufferedSamples);
      this.#bufferedSamples -= consumedCount;
      this.#position -= consumedCount;
    }
    this.#producedSamples += writtenCount;
  }

  /**
   * Like {@link Resampler.#compute}, in blocks as far as possible: four outputs of each phase share their coefficients.
   */
  #computeBlocks({ rows, taps, reach }: FilterBank, output: Int16Array, writtenCount: number, limit: number): number {
    const buffer = this.#buffer;
    const up = this.#upFactor;
    const down = this.#downFactor;
    const end = this.#bufferedSamples - reach;
    let position = this.#position;
    let at = writtenCount;
    while (at + 4 * up <= limit && position + Math.floor((this.#phase + (4 * up - 1) * down) / up) < end) {
      for (let n = 0, phase = this.#phase, start = position - reach + 1; n < up; n++) {
        const row = phase * taps;
        let a = 0;
        let b = 0;
        let c = 0;
        let d = 0;
        for (let tap = 0, first = start; tap < taps; tap++, first++) {
          const coefficient = rows[row + tap]!;
          a += coefficient * buffer[first]!;
          b += coefficient * buffer[first + down]!;
          c += coefficient * buffer[first + 2 * down]!;
          d += coefficient * buffer[first + 3 * down]!;
        }
        output[at + n] = toSample(a);
        output[at + n + up] = toSample(b);
        output[at + n + 2 * up] = toSample(c);
        output[at + n + 3 * up] = toSample(d);
        phase += down;
        const wholeSteps = Math.floor(phase / up);
        phase -= wholeSteps * up;
        start += wholeSteps;
      }
      at += 4 * up;
      position += 4 * down;
    }
    this.#position = position;
    return at;
  }

  /** Writes output samples from position `writtenCount` up to `limit`; returns the position reached. */
  #compute({ rows, taps, reach, steps }: FilterBank, output: Int16Array, writtenCount: number, limit: number): number {
    const buffer = this.#buffer;
    const up = this.#upFactor;
    const wholeStep = Math.floor(this.#downFactor / up);
    const phaseStep = this.#downFactor % up;
    const end = this.#bufferedSamples - reach;
    let position = this.#position;
    let phase = this.#phase;
    let at = writtenCount;
    const isInBlocks = up <= FEW_PHASES;
    while (position < end && at < limit) {
      const step = steps === up ? phase : Math.round((phase * steps) / up);
      const first = position - reach + 1;
      const sum = isInBlocks
        ? singleSum(rows, step * taps, buffer, first, taps)
        : splitSum(rows, step * taps, buffer, first, taps);
      output[at++] = toSample(sum);
      position += wholeStep;
      phase += phaseStep;
      if (phase < up) continue;
      phase -= up;
      position++;
    }
    this.#position = position;
    this.#phase = phase;
    return at;
  }
}

/**
 * The scalar product of a row of coefficients with the buffer from `first` on. It is summed in the same
 * order as in `#computeBlocks`, so that the output does not depend on how the stream is cut.
 */
function singleSum(rows: Float64Array, row: number, buffer: Float64Array, first: number, taps: number): number {
  let sum = 0;
  for (let tap = 0; tap < taps; tap++) sum += rows[row + tap]! * buffer[first + tap]!;
  return sum;
}

/** A faster {@link singleSum} for rows whose length is a multiple of four. */
function splitSum(rows: Float64Array, row: number, buffer: Float64Array, first: number, taps: number): number {
  // Four sums, so that no addition depends on the previous addition.
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let tap = 0; tap < taps; tap += 4) {
    a += rows[row + tap]! * buffer[first + tap]!;
    b += rows[row + tap + 1]! * buffer[first + tap + 1]!;
    c += rows[row + tap + 2]! * buffer[first + tap + 2]!;
    d += rows[row + tap + 3]! * buffer[first + tap + 3]!;
  }
  return a + b + (c + d);
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
