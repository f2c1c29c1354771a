/** Events that a server tells again to who comes back; older ones it has forgotten. */
const MOST_TOLD_AGAIN = 1_000;

/**
 * Tells news from what was told before: each connection begins with the events so far. Two events are the same where
 * their messages are, and may rightly come more than once.
 */
export class Replay {
  readonly #seen: string[] = [];
  #expected: Map<string, number> | undefined;

  /** A connection begins. */
  begin(): void {
    this.#expected = new Map();
    for (const text of this.#seen) this.#expected.set(text, (this.#expected.get(text) ?? 0) + 1);
  }

  /** What comes from now on is new. */
  over(): void {
    this.#expected = undefined;
  }

  isNew(text: string): boolean {
    const times = this.#expected?.get(text) ?? 0;
    if (times > 0) {
      this.#expected?.set(text, times - 1);
      return false;
    }
    this.#seen.push(text);
    if (this.#seen.length > MOST_TOLD_AGAIN) this.#seen.shift();
    return true;
  }
}
