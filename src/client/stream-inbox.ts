/** What has come in and waits for its one reader. */
export class Inbox<T> {
  /** What was dropped because nobody read it in time. */
  dropped = 0;
  readonly #name: string;
  readonly #most: number;
  readonly #items: T[] = [];
  #wake: () => void = () => {};
  #end: { readonly error?: unknown } | undefined;
  #isRead = false;

  /**
   * @param name what a second reader is told that there is a reader of
   * @param most more than that is not kept: the oldest is dropped
   */
  constructor(name: string, most: number) {
    this.#name = name;
    this.#most = most;
  }

  push(item: T): void {
    if (this.#end) return;
    this.#items.push(item);
    if (this.#items.length > this.#most) {
      this.#items.shift();
      this.dropped++;
    }
    this.#wake();
  }

  /** Nothing more comes. What is there can still be read; the reader then gets the error, where there is one. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#wake();
  }

  /**
   * Reads from where the reader before has stopped.
   * @throws {TypeError} somebody else is reading
   */
  async *read(): AsyncGenerator<T, void, undefined> {
    if (this.#isRead) throw new TypeError(`${this.#name} is being read already: one loop at a time`);
    this.#isRead = true;
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
      this.#isRead = false;
    }
  }
}
