/** A queue with one reader, in the order of the pushes. Items pushed before the end are always read. */
export class Queue<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;
  #failure: { readonly error: unknown } | undefined;

  /** True if {@link close} or {@link fail} has been called. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Adds an item; after the end it is dropped. */
  push(item: T): void {
    if (this.#isClosed) return;
    this.#items.push(item);
    this.#wake?.();
  }

  /** Ends the iteration after the remaining items. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  /** Ends the iteration with an error, thrown after the remaining items. Does nothing after the end. */
  fail(error: unknown): void {
    if (this.#isClosed) return;
    this.#failure = { error };
    this.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      while (this.#items.length > 0) yield this.#items.shift() as T;
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#isClosed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
