/** What became of a mark: everything before it was heard, it was dropped by `clear`, or the call ended before. */
export type MarkEnd = "reached" | "cleared" | "ended";

/** An answer that is waited for. */
type Awaited =
  | { readonly mark: string; readonly settle: (end: MarkEnd) => void }
  | { readonly cleared: (heardMs: number) => void; readonly failed: (error: unknown) => void };

/** Marks and clears that the server has not answered yet, in the order in which they were asked for. */
export class Replies {
  readonly #awaited: Awaited[] = [];

  mark(mark: string): Promise<MarkEnd> {
    return new Promise((settle) => this.#awaited.push({ mark, settle }));
  }

  clear(): Promise<number> {
    return new Promise((cleared, failed) => this.#awaited.push({ cleared, failed }));
  }

  /** The server says that a mark was reached. */
  reached(name: string): void {
    const at = this.#awaited.findIndex((one) => "mark" in one && one.mark === name);
    const [one] = at < 0 ? [] : this.#awaited.splice(at, 1);
    if (one && "mark" in one) one.settle("reached");
  }

  /** The server says that it has dropped what waited: every mark that was asked for before is gone with it. */
  cleared(heardMs: number): void {
    const at = this.#awaited.findIndex((one) => "cleared" in one);
    for (const one of this.#awaited.splice(0, at + 1)) {
      if ("mark" in one) one.settle("cleared");
      else one.cleared(heardMs);
    }
  }

  /** No more answers come. */
  end(error: unknown): void {
    for (const one of this.#awaited.splice(0)) {
      if ("mark" in one) one.settle("ended");
      else one.failed(error);
    }
  }
}
