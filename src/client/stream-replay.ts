/** Of these a server tells the last ones again to who comes back; older ones it has forgotten. Of what was said as well. */
const PASSING: ReadonlySet<string> = new Set(["dtmf", "beep", "mark", "cleared"]);
const MOST_TOLD_AGAIN = 1_000;
/** These are about one connection, and never told again. */
const OF_A_CONNECTION: ReadonlySet<string> = new Set(["buffer_high", "buffer_low", "audio_dropped"]);

/**
 * Tells news from what was told before: each connection begins with the events so far. Two events are the same where
 * their messages are, and may rightly come more than once.
 */
export class Replay {
  readonly #lasting: string[] = [];
  readonly #passing: string[] = [];
  readonly #said: string[] = [];
  #expected: Map<string, number> | undefined;

  /** A connection begins. */
  begin(): void {
    this.#expected = new Map();
    for (const text of [...this.#lasting, ...this.#passing, ...this.#said])
      this.#expected.set(text, (this.#expected.get(text) ?? 0) + 1);
  }

  /** What comes from now on is new. */
  over(): void {
    this.#expected = undefined;
  }

  /** @param text the whole message of an event of this name; `transcript`: of what was said */
  isNew(text: string, event: string): boolean {
    if (OF_A_CONNECTION.has(event)) return true;
    const times = this.#expected?.get(text) ?? 0;
    if (times > 0) {
      this.#expected?.set(text, times - 1);
      return false;
    }
    const kept = event === "transcript" ? this.#said : PASSING.has(event) ? this.#passing : this.#lasting;
    kept.push(text);
    if (kept !== this.#lasting && kept.length > MOST_TOLD_AGAIN) kept.shift();
    return true;
  }
}
