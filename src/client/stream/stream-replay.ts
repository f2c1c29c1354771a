/** Events of which the server replays only the latest; it has dropped older ones. The same holds for transcripts. */
const PASSING: ReadonlySet<string> = new Set(["dtmf", "beep", "line_tone", "mark", "cleared"]);
const MAX_REPLAYED = 1_000;
/** Events about one connection, which are never replayed. */
const OF_A_CONNECTION: ReadonlySet<string> = new Set(["buffer_high", "buffer_low", "audio_dropped"]);

/**
 * Separates new events from replayed ones: each connection starts with the events so far. Two events with the same message
 * count as the same event; an event may occur more than once.
 */
export class Replay {
  readonly #lasting: string[] = [];
  readonly #passing: string[] = [];
  readonly #transcripts: string[] = [];
  #expected: Map<string, number> | undefined;

  /** Handles a new connection. */
  begin(): void {
    this.#expected = new Map();
    for (const text of [...this.#lasting, ...this.#passing, ...this.#transcripts])
      this.#expected.set(text, (this.#expected.get(text) ?? 0) + 1);
  }

  /** The replay has ended: all further events are new. */
  over(): void {
    this.#expected = undefined;
  }

  /** @param text the whole message. @param event its name; `transcript` for a transcript */
  isNew(text: string, event: string): boolean {
    if (OF_A_CONNECTION.has(event)) return true;
    const times = this.#expected?.get(text) ?? 0;
    if (times > 0) {
      this.#expected?.set(text, times - 1);
      return false;
    }
    const kept = event === "transcript" ? this.#transcripts : PASSING.has(event) ? this.#passing : this.#lasting;
    kept.push(text);
    if (kept !== this.#lasting && kept.length > MAX_REPLAYED) kept.shift();
    return true;
  }
}
