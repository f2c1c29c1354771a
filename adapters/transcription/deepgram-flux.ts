import {
  type ConversationListener,
  type ConversationReader,
  itemsOf,
  membersOf,
  numberOf,
  sureness,
  textOf,
} from "./live-protocol.ts";

/**
 * Reads what `/v2/listen` (Flux) answers: how the turn stands, several times a second, and when it is over.
 * https://developers.deepgram.com/reference/speech-to-text/listen-flux
 */
export class FluxReader implements ConversationReader {
  readonly #listener: ConversationListener;
  #partial = "";
  /** When the turn was first heard of; its window begins where the one before ended, silence included. */
  #startedMs: number | undefined;

  constructor(listener: ConversationListener) {
    this.#listener = listener;
  }

  read(message: Readonly<Record<string, unknown>>): void {
    if (message.type === "TurnInfo") this.#turn(message);
    else if (message.type === "Error" || message.type === "FatalError")
      this.#listener.fault(`says: ${textOf(message.description) || textOf(message.code)}`, false);
  }

  #turn(message: Readonly<Record<string, unknown>>): void {
    const { startMs: began } = this.#listener;
    const windowMs = began + 1_000 * (numberOf(message.audio_window_start) ?? 0);
    const endMs = began + 1_000 * (numberOf(message.audio_window_end) ?? 0);
    const text = textOf(message.transcript).trim();
    if (message.event === "StartOfTurn") this.#startedMs = endMs;
    const startMs = Math.max(windowMs, this.#startedMs ?? windowMs);
    if (message.event === "EndOfTurn") {
      this.#partial = "";
      this.#startedMs = undefined;
      const confidence = sureness(itemsOf(message.words).map((word) => numberOf(membersOf(word).confidence)));
      if (text !== "") this.#listener.say({ type: "final", text, startMs, endMs, confidence });
      this.#listener.answered({ startMs: -Infinity, endMs });
    } else if (text === "") this.#listener.answered({ startMs: -Infinity, endMs });
    else if (text !== this.#partial) {
      this.#partial = text;
      this.#listener.say({ type: "partial", text, startMs });
    }
  }
}
