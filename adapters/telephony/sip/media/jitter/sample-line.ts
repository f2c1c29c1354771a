/** Samples in a row: what was played lies before `head`, what is to be played next from there up to `tail`. */
export class SampleLine {
  readonly samples: Int16Array;
  head: number;
  tail: number;
  readonly #history: number;

  /** @param history samples that stay after they were played @param ahead most samples that wait */
  constructor(history: number, ahead: number) {
    this.samples = new Int16Array(2 * history + ahead); // as much again as stays, so that it need not be moved each time
    this.#history = history;
    this.head = history;
    this.tail = history;
  }

  /** Samples that wait. */
  get length(): number {
    return this.tail - this.head;
  }

  /** Makes room for so many samples behind the tail; what was played long ago goes. */
  reserve(count: number): void {
    if (this.tail + count <= this.samples.length) return;
    const shift = this.head - this.#history;
    this.samples.copyWithin(0, shift, this.tail);
    this.head -= shift;
    this.tail -= shift;
  }

  /** Takes as many samples off the head as the frame has; so many must wait. */
  take(frame: Int16Array): void {
    for (let i = 0; i < frame.length; i++) frame[i] = this.samples[this.head + i]!;
    this.head += frame.length;
  }
}
