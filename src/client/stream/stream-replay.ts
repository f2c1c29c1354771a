/** Events of which the server replays only the latest; it has dropped older events. The same holds for transcripts. */
const LATEST_ONLY_EVENTS: ReadonlySet<string> = new Set(["dtmf", "beep", "line_tone", "mark", "cleared"]);
const MAX_REPLAYED = 1_000;
/** Events about one connection, which are never replayed. */
const CONNECTION_EVENTS: ReadonlySet<string> = new Set(["buffer_high", "buffer_low", "audio_dropped"]);

/**
 * Separates new events from replayed events: each connection starts with the events so far. Events are compared by
 * their messages; an event may occur more than once.
 */
export class Replay {
  readonly #fullyReplayedIds: string[] = [];
  readonly #latestOnly: string[] = [];
  readonly #transcripts: string[] = [];
  #expectedCounts: Map<string, number> | undefined;

  /** Handles a new connection. */
  begin(): void {
    this.#expectedCounts = new Map();
    for (const text of [...this.#fullyReplayedIds, ...this.#latestOnly, ...this.#transcripts])
      this.#expectedCounts.set(text, (this.#expectedCounts.get(text) ?? 0) + 1);
  }

  /** Ends the replay: all further events are new. */
  end(): void {
    this.#expectedCounts = undefined;
  }

  /** True if the message is new. @param text the whole message @param event its name; `transcript` for a transcript */
  isNew(text: string, event: string): boolean {
    if (CONNECTION_EVENTS.has(event)) return true;
    const expectedCount = this.#expectedCounts?.get(text) ?? 0;
    if (expectedCount > 0) {
      this.#expectedCounts?.set(text, expectedCount - 1);
      return false;
    }
    const seenTexts =
      event === "transcript"
        ? this.#transcripts
        : LATEST_ONLY_EVENTS.has(event)
          ? this.#latestOnly
          : this.#fullyReplayedIds;
    seenTexts.push(text);
    if (seenTexts !== this.#fullyReplayedIds && seenTexts.length > MAX_REPLAYED) seenTexts.shift();
    return true;
  }
}
