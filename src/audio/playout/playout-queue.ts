import { msToSamples } from "../samples/pcm.ts";

/** A position in the audio, and the callback for when it has been played. */
export interface PlayoutMark {
  readonly name: string;
  readonly onReached: (name: string) => void;
}

/** Item of the queue: samples to play, a stretch of silence (no samples), or a mark (no length). */
export interface PlayoutItem {
  readonly samples: Int16Array | undefined;
  length: number;
  readonly name: string;
  readonly onReached: ((name: string) => void) | undefined;
  /** True if the queue owns the memory: then it adds more samples to it, and reuses it. */
  readonly isOwned: boolean;
}

const PLAYED_ITEM: PlayoutItem = { samples: undefined, length: 0, name: "", onReached: undefined, isOwned: false };
/** Length of the blocks for small pieces, ms. */
const BLOCK_MS = 40;

/**
 * A queue of audio with two read positions: the next sample to be heard, and the next sample to be pulled, which is
 * never before it. Small pieces are gathered in blocks. Reading does not allocate.
 */
export class PlayoutQueue {
  readonly #blockLength: number;
  readonly #items: PlayoutItem[] = [];
  #head = 0;
  #offset = 0;
  #nextIndex = 0;
  #nextOffset = 0;
  /** A block that has been played. */
  #spareBlock: PlayoutItem | undefined;

  /** @param sampleRate samples per second */
  constructor(sampleRate: number) {
    this.#blockLength = msToSamples(BLOCK_MS, sampleRate);
  }

  /** True if everything, marks included, has been heard. */
  get isEmpty(): boolean {
    return this.#head === this.#items.length;
  }

  /** The next item to be heard. */
  get head(): PlayoutItem | undefined {
    return this.#items[this.#head];
  }

  /** Number of samples of the head that have been heard. */
  get offset(): number {
    return this.#offset;
  }

  /** Adds an item to the end; the samples are not copied. */
  add(samples: Int16Array | undefined, length: number, name: string, onReached: PlayoutItem["onReached"]): void {
    this.#items.push({ samples, length, name, onReached, isOwned: false });
  }

  /** Adds a copy of the first `count` samples. */
  append(samples: Int16Array, count: number): void {
    for (let from = 0; from < count; ) {
      const block = this.#openBlock();
      const memory = block.samples!;
      const copyCount = Math.min(count - from, memory.length - block.length);
      if (copyCount === samples.length) memory.set(samples, block.length);
      else for (let i = 0; i < copyCount; i++) memory[block.length + i] = samples[from + i]!;
      block.length += copyCount;
      from += copyCount;
    }
  }

  /** Drops everything. */
  clear(): void {
    this.#items.length = 0;
    this.#head = 0;
    this.#offset = 0;
    this.#nextIndex = 0;
    this.#nextOffset = 0;
  }

  /** Copies `count` samples of the head, from the first unheard sample, into a frame. */
  copyHead(frame: Int16Array, from: number, count: number): void {
    copy(this.#items[this.#head]!, this.#offset, frame, from, count);
  }

  /**
   * Counts samples of the head as heard; returns true if the head has been played, and the next item is the new head.
   */
  pass(samples: number): boolean {
    this.#offset += samples;
    if (this.#offset < this.#items[this.#head]!.length) return false;
    this.#advance();
    return true;
  }

  /** Removes and returns the mark at the head; undefined if the head is not a mark. */
  takeMark(): PlayoutItem | undefined {
    const item = this.#items[this.#head];
    if (item?.onReached === undefined) return undefined;
    this.#advance();
    return item;
  }

  /** Fills a frame with the next samples to be pulled; returns their number. */
  pull(frame: Int16Array): number {
    let filledSamples = 0;
    while (filledSamples < frame.length) {
      const item = this.#items[this.#nextIndex];
      if (item === undefined) break;
      const copyCount = Math.min(frame.length - filledSamples, item.length - this.#nextOffset);
      copy(item, this.#nextOffset, frame, filledSamples, copyCount);
      filledSamples += copyCount;
      this.#nextOffset += copyCount;
      if (this.#nextOffset === item.length) {
        this.#nextIndex++;
        this.#nextOffset = 0;
      }
    }
    return filledSamples;
  }

  /**
   * Moves the remaining items to the front once half of the list has been played, so that it does not grow with the
   * call.
   */
  compact(): void {
    const items = this.#items;
    if (this.#head < 32 || this.#head * 2 < items.length) return;
    items.copyWithin(0, this.#head);
    items.length -= this.#head;
    this.#nextIndex -= this.#head;
    this.#head = 0;
  }

  /** The block at the end of the queue if it has room and was not pulled to its end, otherwise a new block. */
  #openBlock(): PlayoutItem {
    const lastIndex = this.#items.length - 1;
    const lastItem = this.#items[lastIndex];
    if (lastItem?.isOwned === true && lastIndex >= this.#nextIndex && lastItem.length < lastItem.samples!.length)
      return lastItem;
    const block = this.#spareBlock ?? {
      samples: new Int16Array(this.#blockLength),
      length: 0,
      name: "",
      onReached: undefined,
      isOwned: true,
    };
    this.#spareBlock = undefined;
    this.#items.push(block);
    return block;
  }

  #advance(): void {
    const item = this.#items[this.#head];
    if (item?.isOwned === true) {
      item.length = 0;
      this.#spareBlock = item;
    }
    this.#items[this.#head] = PLAYED_ITEM; // frees the samples
    this.#head++;
    this.#offset = 0;
    if (this.#nextIndex >= this.#head) return;
    this.#nextIndex = this.#head;
    this.#nextOffset = 0;
  }
}

function copy(item: PlayoutItem, at: number, frame: Int16Array, from: number, samples: number): void {
  if (item.samples === undefined) frame.fill(0, from, from + samples);
  // A loop, not set() with subarray(), which would allocate a view for every frame.
  else for (let i = 0; i < samples; i++) frame[from + i] = item.samples[at + i] ?? 0;
}
