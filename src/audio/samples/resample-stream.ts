import { TurnBudget } from "../../base/turn-budget.ts";
import type { PcmChunk } from "../../ports/media.ts";
import { concatPcm } from "./pcm.ts";
import { Resampler } from "./resample.ts";

/** Cache entry: a resampled piece, valid only if it follows `after`, or starts the stream if that is undefined. */
interface CachedPiece {
  readonly after: Int16Array | undefined;
  readonly samples: Int16Array;
  /** The samples that follow if the stream ends with this piece. */
  tail: Int16Array | undefined;
}

/** Results by piece and both rates, so that speech shared by many calls is converted only once. */
const cache = new WeakMap<Int16Array, Map<string, CachedPiece>>();

/** Number of samples of a piece that are converted without a pause. */
const SLICE = 4_096;
/** Number of samples that all streams together convert in one turn of the event loop: less than 2 ms of work. */
const SAMPLES_PER_TURN = 24_000;

const budget = new TurnBudget(SAMPLES_PER_TURN);

/**
 * Converts the pieces of a stream, each with its own rate, to one rate, Hz. Throws a RangeError for an unsupported
 * rate. Do not write to the pieces: unchanged and repeated pieces are shared.
 */
export async function* resampleStream(
  chunks: AsyncIterable<PcmChunk>,
  sampleRate: number,
): AsyncGenerator<Int16Array, void> {
  let stretch: Stretch | undefined;
  for await (const chunk of chunks) {
    if (stretch?.fromRate !== chunk.sampleRate) {
      if (stretch) yield stretch.end();
      stretch = new Stretch(chunk.sampleRate, sampleRate);
    }
    yield await stretch.push(chunk.samples);
  }
  if (stretch) yield stretch.end();
}

/** Consecutive pieces of one rate. */
class Stretch {
  readonly fromRate: number;
  readonly #rates: string;
  readonly #resampler: Resampler;
  /** Pieces whose result was cached; the resampler has not processed them yet. */
  readonly #skippedPieces: Int16Array[] = [];
  #lastPiece: Int16Array | undefined;
  /** Cache entry of the latest piece; undefined if one of the pieces so far has no entry. */
  #lastCachedPiece: CachedPiece | undefined;

  constructor(from: number, to: number) {
    this.fromRate = from;
    this.#rates = `${from} ${to}`;
    this.#resampler = new Resampler(from, to);
  }

  async push(samples: Int16Array): Promise<Int16Array> {
    const previousPiece = this.#lastPiece;
    const isContinuous = previousPiece === undefined || this.#lastCachedPiece !== undefined;
    this.#lastPiece = samples;
    const cachedPiece = isContinuous ? cache.get(samples)?.get(this.#rates) : undefined;
    if (cachedPiece !== undefined && cachedPiece.after === previousPiece) {
      this.#skippedPieces.push(samples);
      this.#lastCachedPiece = cachedPiece;
      return cachedPiece.samples;
    }
    this.#catchUp();
    const output = await this.#convert(samples);
    this.#lastCachedPiece = undefined;
    if (isContinuous && cachedPiece === undefined && output !== samples) {
      this.#lastCachedPiece = { after: previousPiece, samples: output, tail: undefined };
      const byRates = cache.get(samples) ?? new Map<string, CachedPiece>();
      byRates.set(this.#rates, this.#lastCachedPiece);
      cache.set(samples, byRates);
    }
    return output;
  }

  /** Converts a piece in slices, so that other work gets its turn between them. */
  async #convert(samples: Int16Array): Promise<Int16Array> {
    if (this.#resampler.heldSamples === 0) return samples;
    const slices: Int16Array[] = [];
    for (let at = 0; at < samples.length; at += SLICE) {
      const slice = samples.subarray(at, at + SLICE);
      await budget.take(slice.length);
      slices.push(this.#resampler.push(slice));
    }
    return concatPcm(slices);
  }

  end(): Int16Array {
    if (this.#lastCachedPiece?.tail !== undefined) return this.#lastCachedPiece.tail;
    this.#catchUp();
    const tail = this.#resampler.flush();
    if (this.#lastCachedPiece !== undefined) this.#lastCachedPiece.tail = tail;
    return tail;
  }

  #catchUp(): void {
    for (const samples of this.#skippedPieces.splice(0)) this.#resampler.push(samples);
  }
}
