/** Events in order for one reader, kept until they are read. */
export class EventQueue<Event> implements AsyncIterable<Event> {
  readonly #waiting: Event[] = [];
  #closed = false;
  #wake: () => void = () => {};

  /** Adds an event; after {@link close} nothing is added. */
  push(event: Event): void {
    if (this.#closed) return;
    this.#waiting.push(event);
    this.#wake();
  }

  /** What has been pushed is still read, then the iteration is over. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, void> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event !== undefined) yield event;
      else if (this.#closed) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
