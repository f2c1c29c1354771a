/** Received items that wait for the single reader. */
export class Inbox<T> {
  /** Number of items that were dropped because they were not read in time. */
  dropped = 0;
  readonly #name: string;
  readonly #maxItems: number;
  readonly #items: T[] = [];
  #wake: () => void = () => {};
  #end: { readonly error?: unknown } | undefined;
  #hasReader = false;

  /**
   * @param name name of the iterator, for the error of a second reader
   * @param maxItems maximum number of items to keep; beyond that, the oldest is dropped
   */
  constructor(name: string, maxItems: number) {
    this.#name = name;
    this.#maxItems = maxItems;
  }

  push(item: T): void {
    if (this.#end) return;
    this.#items.push(item);
    if (this.#items.length > this.#maxItems) {
      this.#items.shift();
      this.dropped++;
    }
    this.#wake();
  }

  /** Ends the items. The remaining items can still be read; after them the reader gets the error, if any. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#wake();
  }

  /**
   * Continues where the previous reader stopped.
   * @throws {TypeError} if there is another reader
   */
  async *read(): AsyncGenerator<T, void, undefined> {
    if (this.#hasReader) throw new TypeError(`${this.#name} already has a reader: use one loop at a time`);
    this.#hasReader = true;
    try {
      for (;;) {
        while (this.#items.length > 0) yield this.#items.shift()!;
        if (this.#end) break;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if ("error" in this.#end) throw this.#end.error;
    } finally {
      this.#hasReader = false;
    }
  }
}
