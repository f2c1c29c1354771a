import { Buffer } from "node:buffer";
import { pcmToBytes } from "../../src/audio/samples/pcm.ts";
import type { Transcription } from "../../src/ports/transcription.ts";
import { socketUrl } from "../provider-http/engine-socket.ts";
import { quoteOf } from "../provider-http/fault-text.ts";
import { membersOf, textOf } from "../provider-http/json-members.ts";
import type { LiveProtocol, ResponseListener, ResponseReader } from "./live-protocol.ts";
import { LiveSession, type LiveTimeouts } from "./live-session.ts";
import { REALTIME_DIALECTS, type RealtimeDialect, type RealtimeDialectName } from "./realtime-dialects.ts";
import type { TimeSpan } from "./unprocessed-audio.ts";

/** Options of {@link openaiRealtimeTranscription}, for a server with the OpenAI realtime protocol. */
export interface OpenaiRealtimeOptions {
  /** Base URL including the version, without `/realtime`: `https://api.openai.com/v1`. */
  readonly baseUrl: string | URL;
  /** Sent as a bearer token; never part of an error message. */
  readonly apiKey?: string | undefined;
  /** The model. There is no default: hosted models come and go. */
  readonly model: string;
  /** The spoken languages. */
  readonly language?: string | readonly string[] | undefined;
  /** The protocol variant. Default: `openai`. */
  readonly dialect?: RealtimeDialectName | undefined;
  /** Additional headers for the connection. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeouts?: LiveTimeouts | undefined;
}

/** Length of the audio that is kept, ms: enough to send a whole turn again. */
const KEEP_MS = 35_000;

/**
 * Live transcription over one WebSocket per speaker. Ringport detects the end of a turn.
 *
 * Throws a TypeError for a malformed base URL.
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
        options.timeouts ?? {},
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
  const turnStart = dialect.turnBeginMessage === undefined ? [] : [JSON.stringify(dialect.turnBeginMessage)];
  return {
    url,
    headers: { ...headers, ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
    secrets: [apiKey, ...Object.values(headers ?? {})],
    opening: [JSON.stringify(dialect.opening(model, languages, sampleRate))],
    audio: (samples, isFirst) => [...(isFirst ? turnStart : []), appendMessage(samples)],
    commit: [JSON.stringify(dialect.turnEndMessage)],
    keepAlive: undefined,
    finish: [],
    reader: (listener) => new RealtimeReader(dialect, listener),
  };
}

function appendMessage(samples: Int16Array): string {
  const audio = Buffer.from(pcmToBytes(samples).buffer).toString("base64");
  return `{"type":"input_audio_buffer.append","audio":"${audio}"}`;
}

/** Maximum number of items that have partial text but no known turn yet. */
const MAX_ITEMS = 100;
/** Error codes that a new connection would not fix. */
const PERMANENT = /^(invalid_api_key|model_not_found|invalid_model|insufficient_quota|account_deactivated)$/;

/** Assigns a server's texts to the turns that have been sent, by item: texts may arrive in any order. */
export class RealtimeReader implements ResponseReader {
  readonly #dialect: RealtimeDialect;
  readonly #listener: ResponseListener;
  /** Turns that have been sent but have no item yet, oldest first. */
  readonly #sentTurns: TimeSpan[] = [];
  readonly #turns = new Map<string, TimeSpan>();
  readonly #partialTexts = new Map<string, string>();
  #isReady = false;

  constructor(dialect: RealtimeDialect, listener: ResponseListener) {
    this.#dialect = dialect;
    this.#listener = listener;
  }

  committed(turn: TimeSpan): void {
    this.#sentTurns.push(turn);
  }

  read(message: Readonly<Record<string, unknown>>): void {
    const type = textOf(message.type);
    const item = textOf(message.item_id);
    const { meanings } = this.#dialect;
    switch (meanings.get(type)) {
      case "ready":
        this.#isReady = true;
        break;
      case "committed": {
        const turn = this.#sentTurns.shift();
        if (turn) this.#turns.set(item, turn);
        break;
      }
      case "partial": {
        const text = (this.#partialTexts.get(item) ?? "") + textOf(message.delta);
        if (this.#partialTexts.size < MAX_ITEMS || this.#partialTexts.has(item)) this.#partialTexts.set(item, text);
        this.#listener.emit({ type: "partial", text, startMs: (this.#turns.get(item) ?? this.#sentTurns[0])?.startMs });
        break;
      }
      case "final": {
        const turn = this.#settle(item);
        const text = textOf(message[this.#dialect.text]);
        this.#listener.emit({ type: "final", text, startMs: turn?.startMs, endMs: turn?.endMs });
        if (turn) this.#listener.processed(turn);
        break;
      }
      case "failed": {
        const turn = this.#settle(item);
        this.#listener.fault(`could not transcribe a turn: ${quoteOf(message)}`, false);
        if (turn) this.#listener.processed(turn);
        break;
      }
      case "fault":
        this.#error(message);
        break;
      default:
    }
  }

  /** The turn of an item with a final text. */
  #settle(item: string): TimeSpan | undefined {
    const turn = this.#turns.get(item) ?? this.#sentTurns.shift();
    this.#turns.delete(item);
    this.#partialTexts.delete(item);
    return turn;
  }

  #error(message: Readonly<Record<string, unknown>>): void {
    const { code, type } = membersOf(message.error);
    // The server found no audio in this turn.
    const turn = code === "input_audio_buffer_commit_empty" ? this.#sentTurns.shift() : undefined;
    if (turn) {
      this.#listener.processed(turn);
      return;
    }
    // An invalid request before the session has begun means that the session is invalid.
    const isPermanent = PERMANENT.test(textOf(code)) || (!this.#isReady && textOf(type) === "invalid_request_error");
    this.#listener.fault(`reports: ${quoteOf(message)}`, isPermanent);
  }
}
