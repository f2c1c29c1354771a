/**
 * The latest audio of a call for one listener: two channels, interleaved. The writer never waits and allocates nothing; what
 * is not read in time is lost, the oldest first.
 */
export class ListenerRing {
  readonly #samples: Int16Array;
  readonly #capacity: number;
  /** Number of samples per channel so far. */
  #written = 0;
  #read = 0;
  #lost = 0;

  /** @param capacity samples per channel that it keeps */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#samples = new Int16Array(2 * capacity);
  }

  /** Samples per channel that can be read. */
  get waiting(): number {
    return this.#written - this.#read;
  }

  /** Adds the first `count` samples of both channels. */
  write(left: Int16Array, right: Int16Array, count: number): void {
    const keptCount = Math.min(count, this.#capacity);
    let at = (this.#written + count - keptCount) % this.#capacity;
    for (let i = count - keptCount; i < count; i++) {
      this.#samples[2 * at] = left[i]!;
      this.#samples[2 * at + 1] = right[i]!;
      if (++at === this.#capacity) at = 0;
    }
    this.#written += count;
    const excess = this.waiting - this.#capacity;
    if (excess <= 0) return;
    this.#read += excess;
    this.#lost += excess;
  }

  /** Samples per channel lost since the last call. */
  takeLost(): number {
    const lostCount = this.#lost;
    this.#lost = 0;
    return lostCount;
  }

  /** The oldest samples, interleaved: at most `most` per channel. */
  read(most: number): Int16Array<ArrayBuffer> {
    const count = Math.min(most, this.waiting);
    const out = new Int16Array(2 * count);
    const from = this.#read % this.#capacity;
    const head = Math.min(count, this.#capacity - from);
    out.set(this.#samples.subarray(2 * from, 2 * (from + head)));
    out.set(this.#samples.subarray(0, 2 * (count - head)), 2 * head);
    this.#read += count;
    return out;
  }
}
