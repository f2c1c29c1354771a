import {
  type ConversationListener,
  type ConversationReader,
  itemsOf,
  membersOf,
  numberOf,
  sureness,
  textOf,
} from "./live-protocol.ts";

/** A part of what somebody is saying that will not change any more. Times are ms since the answer of the call. */
interface Part {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence: number | undefined;
}

/** An utterance of more parts is told in pieces. */
const MOST_PARTS = 200;

/**
 * Reads what `/v1/listen` answers: parts that are final one by one make up an utterance, which is over with
 * `speech_final` or, where noise hides the silence, with `UtteranceEnd`.
 * https://developers.deepgram.com/reference/speech-to-text/listen-streaming
 */
export class DeepgramReader implements ConversationReader {
  readonly #listener: ConversationListener;
  #parts: Part[] = [];

  constructor(listener: ConversationListener) {
    this.#listener = listener;
  }

  read(message: Readonly<Record<string, unknown>>): void {
    switch (message.type) {
      case "Results":
        this.#results(message);
        break;
      case "UtteranceEnd":
      case "Metadata": // the last message
        this.#over();
        break;
      case "Error":
        this.#listener.fault(`says: ${textOf(message.description) || textOf(message.message)}`, false);
        break;
      default:
    }
  }

  #results(message: Readonly<Record<string, unknown>>): void {
    const [alternative] = itemsOf(membersOf(message.channel).alternatives);
    const { transcript, confidence, words } = membersOf(alternative);
    const { startMs: began } = this.#listener;
    const from = began + 1_000 * (numberOf(message.start) ?? 0);
    const until = from + 1_000 * (numberOf(message.duration) ?? 0);
    const text = textOf(transcript).trim();
    const said = itemsOf(words).map(membersOf);
    const first = numberOf(said[0]?.start);
    const last = numberOf(said.at(-1)?.end);
    const part: Part = {
      text,
      startMs: first === undefined ? from : began + 1_000 * first,
      endMs: last === undefined ? until : began + 1_000 * last,
      confidence: numberOf(confidence),
    };
    if (message.is_final !== true) {
      if (text !== "") this.#tellPartial(part);
      return;
    }
    if (text !== "") this.#parts.push(part);
    if (message.speech_final === true || this.#parts.length >= MOST_PARTS) this.#over();
    else if (text !== "") this.#tellPartial(undefined);
    // What is part of an utterance that goes on can be lost with the connection, so it is not answered yet.
    if (this.#parts.length === 0) this.#listener.answered({ startMs: -Infinity, endMs: until });
  }

  #tellPartial(part: Part | undefined): void {
    const parts = part ? [...this.#parts, part] : this.#parts;
    this.#listener.say({ type: "partial", text: joined(parts), startMs: parts[0]?.startMs });
  }

  #over(): void {
    const parts = this.#parts;
    const [first] = parts;
    const last = parts.at(-1);
    if (first === undefined || last === undefined) return;
    this.#parts = [];
    const confidence = sureness(parts.map(({ confidence }) => confidence));
    this.#listener.say({ type: "final", text: joined(parts), startMs: first.startMs, endMs: last.endMs, confidence });
    this.#listener.answered({ startMs: -Infinity, endMs: last.endMs });
  }
}

function joined(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join(" ");
}
