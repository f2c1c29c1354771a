import { TurnBudget } from "../../base/turn-budget.ts";
import type { PcmChunk } from "../../ports/media.ts";
import { concatPcm } from "./pcm.ts";
import { Resampler } from "./resample.ts";

/** A piece that was converted after certain other pieces. */
interface ConvertedPiece {
  /** Pending while another stream converts the piece. */
  readonly samples: Promise<Int16Array>;
  /** The samples that follow if the stream ends with this piece. */
  tail: Int16Array | undefined;
  /** Pieces that have followed this one. */
  readonly next: WeakMap<Int16Array, ConvertedPiece>;
}

/** The first pieces of streams, each by both rates, so that speech shared by many calls is converted only once. */
const firstPieces = new WeakMap<Int16Array, Map<string, ConvertedPiece>>();

/** Number of samples of a piece that are converted without a pause. */
const SLICE = 4_096;
/** Number of samples that a stream's resampler processes at a time, which determines its memory. */
const RESAMPLER_SLICE = 1_024;
/** Number of samples that all streams together convert in one turn of the event loop: less than 2 ms of work. */
const SAMPLES_PER_TURN = 24_000;

const NO_SAMPLES = new Int16Array(0);
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
  readonly #toRate: number;
  /** Created for the first piece that no other stream converts. */
  #resampler: Resampler | undefined;
  /** Pieces that another stream has converted; the resampler has not processed them yet. */
  readonly #skippedPieces: Int16Array[] = [];
  #lastPiece: ConvertedPiece | undefined;

  constructor(from: number, to: number) {
    this.fromRate = from;
    this.#toRate = to;
  }

  async push(samples: Int16Array): Promise<Int16Array> {
    if (this.fromRate === this.#toRate) return samples;
    const knownPiece = this.#find(samples);
    if (knownPiece) this.#skippedPieces.push(samples);
    this.#lastPiece = knownPiece ?? this.#add(samples);
    return await this.#lastPiece.samples;
  }

  end(): Int16Array {
    if (this.#lastPiece === undefined) return NO_SAMPLES;
    this.#lastPiece.tail ??= this.#currentResampler().flush();
    return this.#lastPiece.tail;
  }

  #find(samples: Int16Array): ConvertedPiece | undefined {
    if (this.#lastPiece) return this.#lastPiece.next.get(samples);
    return firstPieces.get(samples)?.get(this.#rates);
  }

  /** Converts a piece for all streams. */
  #add(samples: Int16Array): ConvertedPiece {
    const converted = convert(this.#currentResampler(), samples);
    const piece: ConvertedPiece = { samples: converted, tail: undefined, next: new WeakMap() };
    if (this.#lastPiece) this.#lastPiece.next.set(samples, piece);
    else {
      const byRates = firstPieces.get(samples) ?? new Map<string, ConvertedPiece>();
      firstPieces.set(samples, byRates.set(this.#rates, piece));
    }
    return piece;
  }

  get #rates(): string {
    return `${this.fromRate} ${this.#toRate}`;
  }

  /** The resampler, after all pieces so far. */
  #currentResampler(): Resampler {
    this.#resampler ??= new Resampler(this.fromRate, this.#toRate, RESAMPLER_SLICE);
    for (const samples of this.#skippedPieces.splice(0)) this.#resampler.skip(samples);
    return this.#resampler;
  }
}

/** Converts a piece in slices, so that other work gets its turn between them. */
async function convert(resampler: Resampler, samples: Int16Array): Promise<Int16Array> {
  const slices: Int16Array[] = [];
  for (let at = 0; at < samples.length; at += SLICE) {
    const slice = samples.subarray(at, at + SLICE);
    await budget.take(slice.length);
    slices.push(resampler.push(slice));
  }
  return concatPcm(slices);
}
