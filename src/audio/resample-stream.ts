import type { PcmChunk } from "../ports/media.ts";
import { Resampler } from "./resample.ts";

/** What a piece became at another rate, when it came after a certain other one (or first). */
interface Resampled {
  readonly after: Int16Array | undefined;
  readonly samples: Int16Array;
  /** What was left when the stream ended with it. */
  rest: Int16Array | undefined;
}

/** By piece and by both rates. Speech that many calls share is converted once, and shared at the new rate as well. */
const known = new WeakMap<Int16Array, Map<string, Resampled>>();

/**
 * The pieces of a stream at one rate, Hz, whatever rate each of them came at. Throws a RangeError for an odd rate. Pieces
 * that are passed on, or come again in another stream, are shared: do not write to them.
 */
export async function* resampleStream(
  chunks: AsyncIterable<PcmChunk>,
  sampleRate: number,
): AsyncGenerator<Int16Array, void> {
  let stretch: Stretch | undefined;
  for await (const chunk of chunks) {
    if (stretch?.from !== chunk.sampleRate) {
      if (stretch) yield stretch.end();
      stretch = new Stretch(chunk.sampleRate, sampleRate);
    }
    yield stretch.push(chunk.samples);
  }
  if (stretch) yield stretch.end();
}

/** Pieces of one rate that follow one another. */
class Stretch {
  readonly from: number;
  readonly #rates: string;
  readonly #resampler: Resampler;
  /** Pieces whose result was known; the resampler has not seen them yet. */
  readonly #skipped: Int16Array[] = [];
  #last: Int16Array | undefined;
  /** Whether all pieces so far came in the order in which they are known. */
  #lastKnown: Resampled | undefined;

  constructor(from: number, to: number) {
    this.from = from;
    this.#rates = `${from} ${to}`;
    this.#resampler = new Resampler(from, to);
  }

  push(samples: Int16Array): Int16Array {
    const before = this.#last;
    const continuous = before === undefined || this.#lastKnown !== undefined;
    this.#last = samples;
    const found = continuous ? known.get(samples)?.get(this.#rates) : undefined;
    if (found !== undefined && found.after === before) {
      this.#skipped.push(samples);
      this.#lastKnown = found;
      return found.samples;
    }
    this.#catchUp();
    const output = this.#resampler.push(samples);
    this.#lastKnown = undefined;
    if (continuous && found === undefined && output !== samples) {
      this.#lastKnown = { after: before, samples: output, rest: undefined };
      const byRates = known.get(samples) ?? new Map<string, Resampled>();
      byRates.set(this.#rates, this.#lastKnown);
      known.set(samples, byRates);
    }
    return output;
  }

  end(): Int16Array {
    if (this.#lastKnown?.rest !== undefined) return this.#lastKnown.rest;
    this.#catchUp();
    const rest = this.#resampler.flush();
    if (this.#lastKnown !== undefined) this.#lastKnown.rest = rest;
    return rest;
  }

  #catchUp(): void {
    for (const samples of this.#skipped.splice(0)) this.#resampler.push(samples);
  }
}
