import { itemsOf, membersOf, numberOf, textOf } from "../provider-http/json-members.ts";
import { meanConfidence, type ResponseListener, type ResponseReader } from "./live-protocol.ts";

/** A final part of an utterance. Times are ms since the callee answered. */
interface Part {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence: number | undefined;
}

/** Maximum number of parts in one emitted utterance; a longer utterance is split. */
const MAX_PARTS = 200;

/**
 * Reads the responses of `/v1/listen`. An utterance consists of final parts. It ends with `speech_final` or, if noise
 * hides the silence, with `UtteranceEnd`.
 * https://developers.deepgram.com/reference/speech-to-text/listen-streaming
 */
export class DeepgramReader implements ResponseReader {
  readonly #listener: ResponseListener;
  #parts: Part[] = [];

  constructor(listener: ResponseListener) {
    this.#listener = listener;
  }

  read(message: Readonly<Record<string, unknown>>): void {
    switch (message.type) {
      case "Results":
        this.#readResults(message);
        break;
      case "UtteranceEnd":
      case "Metadata": // the last message
        this.#endUtterance();
        break;
      case "Error":
        this.#listener.fault(`reports: ${textOf(message.description) || textOf(message.message)}`, false);
        break;
      default:
    }
  }

  #readResults(message: Readonly<Record<string, unknown>>): void {
    const [alternative] = itemsOf(membersOf(message.channel).alternatives);
    const { transcript, confidence, words } = membersOf(alternative);
    const { startMs: connectedMs } = this.#listener;
    const windowStartMs = connectedMs + 1_000 * (numberOf(message.start) ?? 0);
    const windowEndMs = windowStartMs + 1_000 * (numberOf(message.duration) ?? 0);
    const text = textOf(transcript).trim();
    const spokenWords = itemsOf(words).map(membersOf);
    const firstStart = numberOf(spokenWords[0]?.start);
    const lastEnd = numberOf(spokenWords.at(-1)?.end);
    const part: Part = {
      text,
      startMs: firstStart === undefined ? windowStartMs : connectedMs + 1_000 * firstStart,
      endMs: lastEnd === undefined ? windowEndMs : connectedMs + 1_000 * lastEnd,
      confidence: numberOf(confidence),
    };
    if (message.is_final !== true) {
      if (text !== "") this.#emitPartial(part);
      return;
    }
    if (text !== "") this.#parts.push(part);
    if (message.speech_final === true || this.#parts.length >= MAX_PARTS) this.#endUtterance();
    else if (text !== "") this.#emitPartial(undefined);
    // Parts of an unfinished utterance would be lost with the connection, so they do not count as processed yet.
    if (this.#parts.length === 0) this.#listener.processed({ startMs: -Infinity, endMs: windowEndMs });
  }

  #emitPartial(part: Part | undefined): void {
    const parts = part ? [...this.#parts, part] : this.#parts;
    this.#listener.emit({ type: "partial", text: joinTexts(parts), startMs: parts[0]?.startMs });
  }

  #endUtterance(): void {
    const parts = this.#parts;
    const [first] = parts;
    const last = parts.at(-1);
    if (first === undefined || last === undefined) return;
    this.#parts = [];
    const confidence = meanConfidence(parts.map(({ confidence }) => confidence));
    this.#listener.emit({
      type: "final",
      text: joinTexts(parts),
      startMs: first.startMs,
      endMs: last.endMs,
      confidence,
    });
    this.#listener.processed({ startMs: -Infinity, endMs: last.endMs });
  }
}

function joinTexts(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join(" ");
}

/**
 * Reads the responses of `/v2/listen` (Flux): the state of the turn, several times a second, and its end.
 * https://developers.deepgram.com/reference/speech-to-text/listen-flux
 */
export class FluxReader implements ResponseReader {
  readonly #listener: ResponseListener;
  #partial = "";
  /**
   * Time at which the turn was first reported. The turn's audio window starts earlier, at the end of the previous
   * window, and includes silence.
   */
  #startedMs: number | undefined;

  constructor(listener: ResponseListener) {
    this.#listener = listener;
  }

  read(message: Readonly<Record<string, unknown>>): void {
    if (message.type === "TurnInfo") this.#readTurn(message);
    else if (message.type === "Error" || message.type === "FatalError")
      this.#listener.fault(`reports: ${textOf(message.description) || textOf(message.code)}`, false);
  }

  #readTurn(message: Readonly<Record<string, unknown>>): void {
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
      this.#listener.processed({ startMs: -Infinity, endMs });
    } else if (text === "") this.#listener.processed({ startMs: -Infinity, endMs });
    else if (text !== this.#partial || message.event === "EagerEndOfTurn") {
      this.#partial = text;
      const ended = message.event === "EagerEndOfTurn" || undefined;
      this.#listener.emit({ type: "partial", text, startMs, ...(ended && { ended }) });
    }
  }
}
