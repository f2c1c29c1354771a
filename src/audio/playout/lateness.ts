const BUCKET_MS = 0.1;
const BUCKETS = 5_000;

/** Lateness of frames, all in ms. */
export interface LatenessFigures {
  /** Number of frames counted. */
  readonly frames: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** A histogram of how late frames were, in buckets of 0.1 ms up to 500 ms; counting has a constant cost. */
export class Lateness implements LatenessFigures {
  readonly #buckets = new Uint32Array(BUCKETS + 1);
  #frameCount = 0;
  #max = 0;

  /** Counts `frames` frames that were `ms` late. */
  add(ms: number, frames: number): void {
    if (ms > this.#max) this.#max = ms;
    const bucket = ms <= 0 ? 0 : Math.min(BUCKETS, Math.floor(ms / BUCKET_MS));
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + frames;
    this.#frameCount += frames;
  }

  get frames(): number {
    return this.#frameCount;
  }

  get p50(): number {
    return this.quantile(0.5);
  }

  get p99(): number {
    return this.quantile(0.99);
  }

  /** The maximum, exact rather than rounded to a bucket. */
  get max(): number {
    return this.#max;
  }

  /** The lateness (ms) that this share of the frames (0 to 1) did not exceed; 0 if no frame has been counted. */
  quantile(share: number): number {
    const rank = share * this.#frameCount;
    let sum = 0;
    for (let i = 0; i < this.#buckets.length; i++) {
      sum += this.#buckets[i] ?? 0;
      if (sum > 0 && sum >= rank) return Math.min(this.#max, (i + 1) * BUCKET_MS);
    }
    return 0;
  }

  /** Removes all counted frames. */
  reset(): void {
    this.#buckets.fill(0);
    this.#frameCount = 0;
    this.#max = 0;
  }
}
