/** Samples in a row: played ones before `head`, waiting ones from there up to `tail`. */
export class SampleLine {
  readonly samples: Int16Array;
  head: number;
  tail: number;
  readonly #history: number;

  /** @param history played samples that are kept @param ahead the most waiting samples */
  constructor(history: number, ahead: number) {
    this.samples = new Int16Array(2 * history + ahead); // twice the history, so that it is not moved each time
    this.#history = history;
    this.head = history;
    this.tail = history;
  }

  /** Waiting samples. */
  get length(): number {
    return this.tail - this.head;
  }

  /** Makes room for this many samples behind the tail; the oldest played ones are dropped. */
  reserve(count: number): void {
    if (this.tail + count <= this.samples.length) return;
    const shift = this.head - this.#history;
    this.samples.copyWithin(0, shift, this.tail);
    this.head -= shift;
    this.tail -= shift;
  }

  /** Reads a whole frame from the head; that many samples must be waiting. */
  take(frame: Int16Array): void {
    for (let i = 0; i < frame.length; i++) frame[i] = this.samples[this.head + i]!;
    this.head += frame.length;
  }
}
