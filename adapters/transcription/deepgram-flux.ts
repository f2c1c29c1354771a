import { itemsOf, membersOf, numberOf, textOf } from "../engine-http/json-members.ts";
import { meanConfidence, type ResponseListener, type ResponseReader } from "./live-protocol.ts";

/**
 * Reads the responses of `/v2/listen` (Flux): the state of the turn, several times a second, and its end.
 * https://developers.deepgram.com/reference/speech-to-text/listen-flux
 */
export class FluxReader implements ResponseReader {
  readonly #listener: ResponseListener;
  #partial = "";
  /** When the turn was reported first. Its window begins at the end of the window before, silence included. */
  #startedMs: number | undefined;

  constructor(listener: ResponseListener) {
    this.#listener = listener;
  }

  read(message: Readonly<Record<string, unknown>>): void {
    if (message.type === "TurnInfo") this.#turn(message);
    else if (message.type === "Error" || message.type === "FatalError")
      this.#listener.fault(`reports: ${textOf(message.description) || textOf(message.code)}`, false);
  }

  #turn(message: Readonly<Record<string, unknown>>): void {
    const { startMs: connectedMs } = this.#listener;
    const windowMs = connectedMs + 1_000 * (numberOf(message.audio_window_start) ?? 0);
    const endMs = connectedMs + 1_000 * (numberOf(message.audio_window_end) ?? 0);
    const text = textOf(message.transcript).trim();
    if (message.event === "StartOfTurn") this.#startedMs = endMs;
    const startMs = Math.max(windowMs, this.#startedMs ?? windowMs);
    if (message.event === "EndOfTurn") {
      this.#partial = "";
      this.#startedMs = undefined;
      const confidence = meanConfidence(itemsOf(message.words).map((word) => numberOf(membersOf(word).confidence)));
      if (text !== "") this.#listener.emit({ type: "final", text, startMs, endMs, confidence });
      this.#listener.answered({ startMs: -Infinity, endMs });
    } else if (text === "") this.#listener.answered({ startMs: -Infinity, endMs });
    else if (text !== this.#partial || message.event === "EagerEndOfTurn") {
      this.#partial = text;
      const ended = message.event === "EagerEndOfTurn" || undefined;
      this.#listener.emit({ type: "partial", text, startMs, ...(ended && { ended }) });
    }
  }
}
