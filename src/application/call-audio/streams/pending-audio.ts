import type { PlayoutMark } from "../../../audio/playout/playout-queue.ts";
import { samplesToMs } from "../../../audio/samples/pcm.ts";

/** Consecutive samples at one rate; or a mark, without samples. */
interface Stretch {
  readonly sampleRate: number;
  count: number;
  readonly mark: PlayoutMark | undefined;
}

const BLOCK_SAMPLES = 4096;

/**
 * A queue of audio at any mixture of rates, with marks in between. Pieces of any size share blocks of memory, which are
 * reused: a million pieces of one sample cost as much as one piece of a million samples.
 */
export class PendingAudio {
  readonly #stretches: Stretch[] = [];
  readonly #blocks: Int16Array[] = [];
  /** Position of the next sample to read in the first block, and to write in the last block. */
  #readPosition = 0;
  #writePosition = 0;
  #spareBlock: Int16Array | undefined;
  #ms = 0;
  #markCount = 0;

  get isEmpty(): boolean {
    return this.#stretches.length === 0;
  }

  /** Length of the queued audio, ms, with fractions. */
  get ms(): number {
    return this.#ms;
  }

  /** Number of queued marks. */
  get marks(): number {
    return this.#markCount;
  }

  /** The rate of the next samples, Hz; undefined if a mark is next, or the queue is empty. */
  get sampleRate(): number | undefined {
    const next = this.#stretches[0];
    return next?.mark === undefined ? next?.sampleRate : undefined;
  }

  /** Adds a copy of samples. */
  write(samples: Int16Array, sampleRate: number): void {
    if (samples.length === 0) return;
    const last = this.#stretches.at(-1);
    if (last?.mark === undefined && last?.sampleRate === sampleRate) last.count += samples.length;
    else this.#stretches.push({ sampleRate, count: samples.length, mark: undefined });
    this.#ms += samplesToMs(samples.length, sampleRate);
    for (let from = 0; from < samples.length; ) {
      const block = this.#openBlock();
      const count = Math.min(samples.length - from, block.length - this.#writePosition);
      for (let i = 0; i < count; i++) block[this.#writePosition + i] = samples[from + i]!;
      this.#writePosition += count;
      from += count;
    }
  }

  mark(mark: PlayoutMark): void {
    this.#stretches.push({ sampleRate: 0, count: 0, mark });
    this.#markCount++;
  }

  /** Takes the next mark; returns undefined if samples come first, or the queue is empty. */
  takeMark(): PlayoutMark | undefined {
    const mark = this.#stretches[0]?.mark;
    if (mark === undefined) return undefined;
    this.#stretches.shift();
    this.#markCount--;
    return mark;
  }

  /** Takes up to `limit` samples, none beyond a mark or a change of rate. Valid until more is written. */
  take(limit: number): Int16Array {
    const stretch = this.#stretches[0];
    const block = this.#blocks[0];
    if (stretch === undefined || stretch.mark !== undefined || block === undefined) return NO_SAMPLES;
    const count = Math.min(limit, stretch.count, block.length - this.#readPosition);
    const samples = block.subarray(this.#readPosition, this.#readPosition + count);
    this.#readPosition += count;
    stretch.count -= count;
    this.#ms -= samplesToMs(count, stretch.sampleRate);
    if (stretch.count === 0) this.#stretches.shift();
    if (this.#stretches.length === this.#markCount) this.#rewind();
    else if (this.#readPosition === block.length) this.#passBlock();
    return samples;
  }

  /** Drops everything. */
  clear(): void {
    this.#stretches.length = 0;
    this.#markCount = 0;
    this.#rewind();
  }

  #openBlock(): Int16Array {
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#writePosition < last.length) return last;
    const block = this.#spareBlock ?? new Int16Array(BLOCK_SAMPLES);
    this.#spareBlock = undefined;
    this.#blocks.push(block);
    this.#writePosition = 0;
    return block;
  }

  #passBlock(): void {
    this.#spareBlock = this.#blocks.shift();
    this.#readPosition = 0;
  }

  /** Keeps one block, once no samples are queued. */
  #rewind(): void {
    this.#spareBlock = this.#blocks.at(0) ?? this.#spareBlock;
    this.#blocks.length = 0;
    this.#readPosition = 0;
    this.#writePosition = 0;
    this.#ms = 0;
  }
}

const NO_SAMPLES = new Int16Array(0);
