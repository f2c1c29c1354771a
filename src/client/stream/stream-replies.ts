/** The result of a mark: everything before it was heard, `clear` dropped it, or the call ended first. */
export type MarkEnd = "reached" | "cleared" | "ended";

/** A pending reply. */
type PendingReply =
  | { readonly mark: string; readonly settle: (end: MarkEnd) => void }
  | { readonly resolve: (heardMs: number) => void; readonly reject: (error: unknown) => void };

/** Marks and clears that have no reply yet, in the order of the requests. */
export class Replies {
  readonly #pendingReplies: PendingReply[] = [];

  mark(mark: string): Promise<MarkEnd> {
    return new Promise((settle) => this.#pendingReplies.push({ mark, settle }));
  }

  clear(): Promise<number> {
    return new Promise((resolve, reject) => this.#pendingReplies.push({ resolve, reject }));
  }

  /** Called when the server reports that a mark was reached. */
  onMarkReached(name: string): void {
    const at = this.#pendingReplies.findIndex((reply) => "mark" in reply && reply.mark === name);
    const [reply] = at < 0 ? [] : this.#pendingReplies.splice(at, 1);
    if (reply && "mark" in reply) reply.settle("reached");
  }

  /** Called when the server reports that it has dropped the queued audio, and with it all earlier marks. */
  onCleared(heardMs: number): void {
    const at = this.#pendingReplies.findIndex((reply) => "resolve" in reply);
    for (const reply of this.#pendingReplies.splice(0, at + 1)) {
      if ("mark" in reply) reply.settle("cleared");
      else reply.resolve(heardMs);
    }
  }

  /** Called when no more replies will arrive. */
  end(error: unknown): void {
    for (const reply of this.#pendingReplies.splice(0)) {
      if ("mark" in reply) reply.settle("ended");
      else reply.reject(error);
    }
  }
}
