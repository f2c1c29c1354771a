/** A queue with one reader: inputs of a live object are taken one after the other and never interleave. */
export class Mailbox<T> {
  readonly #waiting: T[] = [];
  #wake: (() => void) | undefined;
  #closed = false;

  /** Adds an input; after {@link close} it is dropped. */
  post(input: T): void {
    if (this.#closed) return;
    this.#waiting.push(input);
    this.#wake?.();
  }

  /** Ends the iteration once what waits has been taken. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#waiting.length > 0) yield this.#waiting.shift() as T;
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
