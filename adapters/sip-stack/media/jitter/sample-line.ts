import { SAMPLE } from "../../ports.ts";

/** Samples in a row, each with its mark (see {@link SAMPLE}): played ones before `head`, waiting ones from there up to `tail`. */
export class SampleLine {
  readonly samples: Int16Array;
  head: number;
  tail: number;
  readonly #marks: Uint8Array;
  readonly #history: number;
  /** Index after the last sample that was not received as such. */
  #markedEnd = 0;

  /** @param history played samples that are kept @param ahead maximum number of waiting samples */
  constructor(history: number, ahead: number) {
    this.samples = new Int16Array(2 * history + ahead); // twice the history, so that it is not moved each time
    this.#marks = new Uint8Array(this.samples.length).fill(SAMPLE.received);
    this.#history = history;
    this.head = history;
    this.tail = history;
  }

  /** Number of waiting samples. */
  get length(): number {
    return this.tail - this.head;
  }

  /** Makes room for this many samples after the tail; drops the oldest played ones. */
  reserve(count: number): void {
    if (this.tail + count <= this.samples.length) return;
    const shift = this.head - this.#history;
    this.samples.copyWithin(0, shift, this.tail);
    this.#marks.copyWithin(0, shift, this.tail);
    this.head -= shift;
    this.tail -= shift;
    this.#markedEnd -= shift;
  }

  /** Adds the samples written after the tail as received. */
  addReceived(count: number): void {
    this.#marks.fill(SAMPLE.received, this.tail, this.tail + count);
    this.tail += count;
  }

  /** Adds the samples written after the tail as concealed. */
  addConcealed(count: number): void {
    if (count === 0) return;
    this.#marks.fill(SAMPLE.filledIn, this.tail, this.tail + count);
    this.tail += count;
    this.#markedEnd = this.tail;
  }

  /** Marks the next received sample as the first one after the peer has paused; it must be written after the tail. */
  markAfterPause(): void {
    this.#marks[this.tail++] = SAMPLE.afterPause;
    this.#markedEnd = this.tail;
  }

  /** Moves the samples that start at `from` to `to`, with their marks; samples before that position keep theirs. */
  move(to: number, from: number): void {
    this.samples.copyWithin(to, from, this.tail);
    this.#marks.copyWithin(to, from, this.tail);
    this.tail += to - from;
    if (this.#markedEnd > Math.min(to, from)) this.#markedEnd = this.tail;
  }

  /**
   * Reads a whole frame from the head; that many samples must be waiting.
   * @param marks receives the mark of each sample
   * @returns false if all of the samples were received, and no pause precedes any of them
   */
  take(frame: Int16Array, marks: Uint8Array): boolean {
    const { head } = this;
    this.head = head + frame.length;
    for (let i = 0; i < frame.length; i++) frame[i] = this.samples[head + i]!;
    const isMarked = this.#markedEnd > head;
    if (isMarked) for (let i = 0; i < frame.length; i++) marks[i] = this.#marks[head + i]!;
    else marks.fill(SAMPLE.received);
    return isMarked;
  }
}
