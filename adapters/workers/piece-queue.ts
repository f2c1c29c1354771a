/** Pieces on their way from one who pushes to one who pulls; what was pushed before the end is always handed over. */
export class PieceQueue<T> {
  readonly #pieces: T[] = [];
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  /** Whether {@link end} or {@link fail} was called. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Adds a piece; nothing after the end. */
  push(piece: T): void {
    if (this.#ended) return;
    this.#pieces.push(piece);
    this.#wake?.();
  }

  /** No more pieces follow. Twice is fine. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Ends with an error, thrown after the pieces that came before it. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#error = error ?? new Error("The job ended without a reason.");
    this.end();
  }

  /** The next piece, in an array of one; an empty array at the end. Throws what {@link fail} was given. */
  async next(): Promise<readonly T[]> {
    while (this.#pieces.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#pieces.length > 0) return this.#pieces.splice(0, 1);
    if (this.#error !== undefined) throw this.#error;
    return [];
  }
}
