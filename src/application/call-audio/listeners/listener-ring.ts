/**
 * The latest audio of a call for one listener: two channels, interleaved. The writer never waits and allocates nothing;
 * audio that is not read in time is lost, the oldest first.
 */
export class ListenerRing {
  readonly #samples: Int16Array;
  readonly #capacity: number;
  /** Numbers of samples per channel. */
  #writtenSamples = 0;
  #readSamples = 0;
  #lostSamples = 0;

  /** @param capacity number of samples per channel that the ring keeps */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#samples = new Int16Array(2 * capacity);
  }

  /** Number of samples per channel that can be read. */
  get availableSamples(): number {
    return this.#writtenSamples - this.#readSamples;
  }

  /** Adds the first `count` samples of both channels. */
  write(left: Int16Array, right: Int16Array, count: number): void {
    const keptCount = Math.min(count, this.#capacity);
    let at = (this.#writtenSamples + count - keptCount) % this.#capacity;
    for (let i = count - keptCount; i < count; i++) {
      this.#samples[2 * at] = left[i]!;
      this.#samples[2 * at + 1] = right[i]!;
      if (++at === this.#capacity) at = 0;
    }
    this.#writtenSamples += count;
    const excess = this.availableSamples - this.#capacity;
    if (excess <= 0) return;
    this.#readSamples += excess;
    this.#lostSamples += excess;
  }

  /** Number of samples per channel lost since the last call. */
  takeLost(): number {
    const lostCount = this.#lostSamples;
    this.#lostSamples = 0;
    return lostCount;
  }

  /** The oldest samples, interleaved: at most `maxSamples` per channel. */
  read(maxSamples: number): Int16Array<ArrayBuffer> {
    const count = Math.min(maxSamples, this.availableSamples);
    const out = new Int16Array(2 * count);
    const from = this.#readSamples % this.#capacity;
    const head = Math.min(count, this.#capacity - from);
    out.set(this.#samples.subarray(2 * from, 2 * (from + head)));
    out.set(this.#samples.subarray(0, 2 * (count - head)), 2 * head);
    this.#readSamples += count;
    return out;
  }
}
