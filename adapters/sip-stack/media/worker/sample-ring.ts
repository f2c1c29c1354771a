import { SAMPLE } from "../../ports.ts";

/**
 * Positions of the ring, at the start of its memory: sample counts, which wrap at 32 bits. `MARKED` is the end of the
 * last frame with a sample that was not received.
 */
const WRITTEN = 0;
const TAKEN = 1;
const MARKED = 2;
const POSITIONS = 3;

/** Size of a sample and its mark, bytes. */
const BYTES = 3;

/**
 * A queue of samples, each with its mark (see {@link SAMPLE}), between two threads: one writes, the other reads, and
 * neither waits. The writer can also drop written samples; both sides then know exactly which samples had been read.
 */
export class SampleRing {
  readonly #positions: Int32Array;
  readonly #samples: Int16Array;
  readonly #marks: Uint8Array;

  /** The memory of a new ring. @param samples a power of two */
  static memory(samples: number): SharedArrayBuffer {
    return new SharedArrayBuffer(POSITIONS * 4 + samples * BYTES);
  }

  /** Opens either end of the ring in this memory. */
  constructor(memory: SharedArrayBuffer) {
    const start = POSITIONS * 4;
    const samples = (memory.byteLength - start) / BYTES;
    this.#positions = new Int32Array(memory, 0, POSITIONS);
    this.#samples = new Int16Array(memory, start, samples);
    this.#marks = new Uint8Array(memory, start + samples * 2, samples);
  }

  /** Number of samples taken or dropped since the beginning; wraps at 32 bits. */
  get position(): number {
    return Atomics.load(this.#positions, TAKEN);
  }

  /** Number of samples written since the beginning; wraps at 32 bits. */
  get written(): number {
    return Atomics.load(this.#positions, WRITTEN);
  }

  /** Number of waiting samples. */
  get waiting(): number {
    return (Atomics.load(this.#positions, WRITTEN) - Atomics.load(this.#positions, TAKEN)) | 0;
  }

  /** True if all waiting samples were received; it may be false for received ones too. Called by the reader. */
  get isPlain(): boolean {
    const position = Atomics.load(this.#positions, TAKEN);
    return ((Atomics.load(this.#positions, MARKED) - position) | 0) <= 0;
  }

  /**
   * Adds the first `count` samples; returns false and adds none if there is no room.
   * @param marks marks of the samples; undefined if all were received
   */
  write(samples: Int16Array, count: number, marks?: Uint8Array): boolean {
    if (this.waiting + count > this.#samples.length) return false;
    const writtenCount = Atomics.load(this.#positions, WRITTEN);
    const mask = this.#samples.length - 1;
    for (let i = 0; i < count; i++) this.#samples[(writtenCount + i) & mask] = samples[i]!;
    const end = (writtenCount + count) | 0;
    if (marks === undefined) this.#markReceived(writtenCount & mask, count);
    else {
      for (let i = 0; i < count; i++) this.#marks[(writtenCount + i) & mask] = marks[i]!;
      Atomics.store(this.#positions, MARKED, end);
    }
    Atomics.store(this.#positions, WRITTEN, end);
    return true;
  }

  /**
   * Moves the waiting samples, at most a full frame, to the start of the frame; returns their number. They count as
   * taken before they are copied: the writer leaves half of the ring free so that it does not overwrite them in the
   * meantime.
   * @param marks receives the mark of each sample
   */
  take(frame: Int16Array, marks?: Uint8Array): number {
    for (;;) {
      const position = Atomics.load(this.#positions, TAKEN);
      const waitingCount = (Atomics.load(this.#positions, WRITTEN) - position) | 0;
      const count = Math.min(waitingCount, frame.length);
      if (count <= 0) return 0;
      if (Atomics.compareExchange(this.#positions, TAKEN, position, (position + count) | 0) !== position) continue;
      const mask = this.#samples.length - 1;
      for (let i = 0; i < count; i++) frame[i] = this.#samples[(position + i) & mask]!;
      if (marks !== undefined) for (let i = 0; i < count; i++) marks[i] = this.#marks[(position + i) & mask]!;
      return count;
    }
  }

  /** Drops the waiting samples; called by the writer. Returns the position up to which they were read. */
  drop(): number {
    const writtenCount = Atomics.load(this.#positions, WRITTEN);
    return Atomics.exchange(this.#positions, TAKEN, writtenCount);
  }

  /** Marks `count` samples from an index on, and around the end of the ring, as received. */
  #markReceived(at: number, count: number): void {
    const beyondEnd = at + count - this.#marks.length;
    this.#marks.fill(SAMPLE.received, at, at + count);
    if (beyondEnd > 0) this.#marks.fill(SAMPLE.received, 0, beyondEnd);
  }
}
