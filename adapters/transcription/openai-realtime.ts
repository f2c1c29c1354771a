import { Buffer } from "node:buffer";
import { pcmToBytes } from "../../src/audio/pcm.ts";
import type { Transcription } from "../../src/ports/transcription.ts";
import { quoteOf } from "../engine-http/fault-text.ts";
import {
  type ConversationListener,
  type ConversationReader,
  type LiveProtocol,
  membersOf,
  textOf,
} from "./live-protocol.ts";
import { type LivePatience, LiveSession } from "./live-session.ts";
import { REALTIME_DIALECTS, type RealtimeDialect, type RealtimeDialectName } from "./realtime-dialects.ts";
import { socketUrl } from "./socket-url.ts";
import type { Stretch } from "./unanswered-audio.ts";

/** A server with the OpenAI realtime protocol for transcriptions, over a WebSocket. */
export interface OpenaiRealtimeOptions {
  /** With the version, without `/realtime`: `https://api.openai.com/v1`. */
  readonly baseUrl: string | URL;
  /** Sent as a bearer token; never part of an error message. */
  readonly apiKey?: string | undefined;
  /** Which model listens. There is no default: hosted models come and go. */
  readonly model: string;
  /** What is spoken. */
  readonly language?: string | readonly string[] | undefined;
  /** Which of the protocols of that name. Default: `openai`. */
  readonly dialect?: RealtimeDialectName | undefined;
  /** More headers for the connection. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly patience?: LivePatience | undefined;
}

/** A whole turn can be sent again. */
const KEEP_MS = 35_000;

/**
 * Transcribes turns as they are spoken, over one WebSocket for each speaker. The core says when a turn is over.
 *
 * Throws a TypeError for a base URL that is none.
 */
export function openaiRealtimeTranscription(options: OpenaiRealtimeOptions): Transcription {
  const dialect: RealtimeDialect = REALTIME_DIALECTS[options.dialect ?? "openai"];
  const url = socketUrl(options.baseUrl, dialect.path);
  const scope = new AbortController();
  return {
    name: "openai-realtime",
    capabilities: { sampleRates: dialect.sampleRates, endOfTurn: false, partial: true },
    open: async ({ sampleRate }, signal) =>
      new LiveSession(
        protocolOf(dialect, url, options, sampleRate),
        { sampleRate, keepMs: KEEP_MS },
        options.patience ?? {},
        AbortSignal.any([signal, scope.signal]),
      ),
    close: async () => scope.abort(),
  };
}

function protocolOf(
  dialect: RealtimeDialect,
  url: URL,
  { apiKey, headers, model, language }: OpenaiRealtimeOptions,
  sampleRate: number,
): LiveProtocol {
  const languages = typeof language === "string" ? [language] : (language ?? []);
  const begins = dialect.turnBegins === undefined ? [] : [JSON.stringify(dialect.turnBegins)];
  return {
    url,
    headers: { ...headers, ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
    secrets: [apiKey, ...Object.values(headers ?? {})],
    opening: [JSON.stringify(dialect.opening(model, languages, sampleRate))],
    audio: (samples, first) => [...(first ? begins : []), appended(samples)],
    commit: [JSON.stringify(dialect.turnEnds)],
    keepAlive: undefined,
    farewell: [],
    reader: (listener) => new RealtimeReader(dialect, listener),
  };
}

function appended(samples: Int16Array): string {
  const audio = Buffer.from(pcmToBytes(samples).buffer).toString("base64");
  return `{"type":"input_audio_buffer.append","audio":"${audio}"}`;
}

/** Items whose text may be told of before anybody knows of which turn they are. */
const MOST_ITEMS = 100;
/** Faults that the next connection would meet too, by their code. */
const LASTING = /^(invalid_api_key|model_not_found|invalid_model|insufficient_quota|account_deactivated)$/;

/** Brings what a server has understood together with the turns that were sent: by item, for they may end in any order. */
export class RealtimeReader implements ConversationReader {
  readonly #dialect: RealtimeDialect;
  readonly #listener: ConversationListener;
  /** Turns that were sent and have no item yet, the oldest first. */
  readonly #sent: Stretch[] = [];
  readonly #turns = new Map<string, Stretch>();
  readonly #partial = new Map<string, string>();
  #ready = false;

  constructor(dialect: RealtimeDialect, listener: ConversationListener) {
    this.#dialect = dialect;
    this.#listener = listener;
  }

  committed(turn: Stretch): void {
    this.#sent.push(turn);
  }

  read(message: Readonly<Record<string, unknown>>): void {
    const type = textOf(message.type);
    const item = textOf(message.item_id);
    const { meanings } = this.#dialect;
    switch (Object.hasOwn(meanings, type) ? meanings[type] : undefined) {
      case "ready":
        this.#ready = true;
        break;
      case "committed": {
        const turn = this.#sent.shift();
        if (turn) this.#turns.set(item, turn);
        break;
      }
      case "partial": {
        const text = (this.#partial.get(item) ?? "") + textOf(message.delta);
        if (this.#partial.size < MOST_ITEMS || this.#partial.has(item)) this.#partial.set(item, text);
        this.#listener.say({ type: "partial", text, startMs: (this.#turns.get(item) ?? this.#sent[0])?.startMs });
        break;
      }
      case "final": {
        const turn = this.#settle(item);
        const text = textOf(message[this.#dialect.text]);
        this.#listener.say({ type: "final", text, startMs: turn?.startMs, endMs: turn?.endMs });
        if (turn) this.#listener.answered(turn);
        break;
      }
      case "failed": {
        const turn = this.#settle(item);
        this.#listener.fault(`could not transcribe a turn: ${faultText(message)}`, false);
        if (turn) this.#listener.answered(turn);
        break;
      }
      case "fault":
        this.#faulty(message);
        break;
      default:
    }
  }

  /** The turn of an item that is over. */
  #settle(item: string): Stretch | undefined {
    const turn = this.#turns.get(item) ?? this.#sent.shift();
    this.#turns.delete(item);
    this.#partial.delete(item);
    return turn;
  }

  #faulty(message: Readonly<Record<string, unknown>>): void {
    const { code, type } = membersOf(message.error);
    // Nothing was said in this turn that the server could hear.
    const turn = code === "input_audio_buffer_commit_empty" ? this.#sent.shift() : undefined;
    if (turn) {
      this.#listener.answered(turn);
      return;
    }
    // Before it has agreed to the session it says what is wrong with that.
    const lasting = LASTING.test(textOf(code)) || (!this.#ready && textOf(type) === "invalid_request_error");
    this.#listener.fault(`says: ${faultText(message)}`, lasting);
  }
}

function faultText(message: Readonly<Record<string, unknown>>): string {
  return quoteOf(message);
}
