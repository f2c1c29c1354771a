import { HTTPError, TimeoutError } from "ky";
import { concatPcm, pcmToBytes, samplesToMs } from "../../src/audio/samples/pcm.ts";
import { wavHeader } from "../../src/audio/wav/wav-header.ts";
import { concatBytes } from "../../src/base/concat-bytes.ts";
import { CodedError } from "../../src/base/error.ts";
import { Queue } from "../../src/base/queue.ts";
import type { Transcription, TranscriptionEvent, TranscriptionSession } from "../../src/ports/transcription.ts";
import { engineClient } from "../provider-http/engine-client.ts";
import { causeOf, isPermanent, jsonOf, type Secrets } from "../provider-http/fault-text.ts";
import { engineFault, engineRefusalText } from "./engine-fault.ts";

/**
 * Options of {@link openaiTranscription}, for a server with `POST {baseUrl}/audio/transcriptions`: OpenAI, Speaches,
 * LocalAI, vLLM and others.
 */
export interface OpenaiTranscriptionOptions {
  /** Base URL including the version, without `/audio/transcriptions`: `http://localhost:8000/v1`. */
  readonly baseUrl: string | URL;
  /** Sent as a bearer token; never part of an error message. */
  readonly apiKey?: string | undefined;
  /** The model. There is no default: hosted models come and go. */
  readonly model: string;
  /** The spoken languages: one is sent as `language`, several (for newer models) as `languages`. */
  readonly language?: string | readonly string[] | undefined;
  /** Words to expect, for models that accept such a hint. */
  readonly prompt?: string | undefined;
  /** Additional headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Time limit for a response, ms. Default: 15,000. */
  readonly timeoutMs?: number | undefined;
  /** Time to wait for responses at the end of a call, ms. Default: 5,000. */
  readonly closeMs?: number | undefined;
}

const MAX_RESPONSE_BYTES = 1 << 20;
/** Maximum length of the audio waiting for a slow server, ms. Beyond that, the oldest turn is dropped. */
const MAX_WAITING_MS = 120_000;
/** Length above which a turn is sent in parts, ms. */
const MAX_TURN_MS = 60_000;

/**
 * Turn-by-turn transcription over HTTP. A request is repeated (at most twice) if the connection is lost before the
 * response begins, or if the server is busy. A request that times out is not repeated: the server may still be working
 * on it.
 *
 * Throws a TypeError for a malformed base URL.
 */
export function openaiTranscription(options: OpenaiTranscriptionOptions): Transcription {
  const transcribe = transcriber(options);
  const scope = new AbortController();
  return {
    name: "openai",
    capabilities: { sampleRates: [16_000, 8_000, 24_000, 48_000], endOfTurn: false, partial: false },
    open: async ({ sampleRate }, signal) =>
      new BatchSession(transcribe, sampleRate, options.closeMs ?? 5_000, AbortSignal.any([signal, scope.signal])),
    close: async () => scope.abort(),
  };
}

/** An ended turn. */
interface Turn {
  readonly samples: Int16Array;
  readonly startMs: number;
  readonly endMs: number;
}

/** Returns the text of a turn. @throws {PermanentFault | TranscriptionFailed} */
type Transcribe = (samples: Int16Array, sampleRate: number, signal: AbortSignal) => Promise<string>;

/** A fault that another request would not fix. */
class PermanentFault extends CodedError {
  readonly code = "permanent_fault";
}

/** A session that sends one request at a time, so that texts arrive in spoken order. */
class BatchSession implements TranscriptionSession {
  readonly events = new Queue<TranscriptionEvent>();
  readonly #transcribe: Transcribe;
  readonly #sampleRate: number;
  readonly #closeMs: number;
  readonly #scope = new AbortController();
  readonly #signal: AbortSignal;
  #pieces: Int16Array[] = [];
  #length = 0;
  #startMs = 0;
  readonly #turns: Turn[] = [];
  #pendingMs = 0;
  #currentWork: Promise<void> | undefined;
  #closePromise: Promise<void> | undefined;

  constructor(transcribe: Transcribe, sampleRate: number, closeMs: number, signal: AbortSignal) {
    this.#transcribe = transcribe;
    this.#sampleRate = sampleRate;
    this.#closeMs = closeMs;
    this.#signal = AbortSignal.any([signal, this.#scope.signal]);
    this.#signal.addEventListener("abort", () => this.events.close(), { once: true });
    if (this.#signal.aborted) this.events.close();
  }

  push(samples: Int16Array, atMs: number): void {
    if (this.#closePromise !== undefined || this.#signal.aborted) return;
    if (this.#length === 0) this.#startMs = atMs;
    this.#pieces.push(samples.slice());
    this.#length += samples.length;
    if (samplesToMs(this.#length, this.#sampleRate) >= MAX_TURN_MS) this.commit();
  }

  commit(): void {
    if (this.#length === 0 || this.#signal.aborted) return;
    const ms = samplesToMs(this.#length, this.#sampleRate);
    this.#turns.push({ samples: concatPcm(this.#pieces), startMs: this.#startMs, endMs: this.#startMs + ms });
    this.#pieces = [];
    this.#length = 0;
    this.#pendingMs += ms;
    while (this.#pendingMs > MAX_WAITING_MS && this.#turns.length > 1) this.#drop();
    this.#currentWork ??= this.#work().finally(() => {
      this.#currentWork = undefined;
    });
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#finish();
    return this.#closePromise;
  }

  async #finish(): Promise<void> {
    const timer = setTimeout(() => this.#scope.abort(), this.#closeMs);
    while (this.#currentWork && !this.#signal.aborted) await this.#currentWork;
    clearTimeout(timer);
    this.#scope.abort();
    this.events.close();
  }

  async #work(): Promise<void> {
    for (let turn = this.#turns.shift(); turn && !this.#signal.aborted; turn = this.#turns.shift()) {
      const { samples, startMs, endMs } = turn;
      this.#pendingMs -= endMs - startMs;
      try {
        const text = await this.#transcribe(samples, this.#sampleRate, this.#signal);
        this.events.push({ type: "final", text, startMs, endMs });
      } catch (error) {
        if (this.#signal.aborted) return;
        const recoverable = !(error instanceof PermanentFault);
        this.events.push({ type: "error", error: recoverable ? (error as Error) : causeIn(error), recoverable });
        if (!recoverable) this.#scope.abort();
      }
    }
  }

  #drop(): void {
    const turn = this.#turns.shift();
    if (turn === undefined) return;
    const ms = turn.endMs - turn.startMs;
    this.#pendingMs -= ms;
    const error = engineFault(`the transcription server is too slow: ${Math.round(ms)} ms of speech were dropped`, []);
    this.events.push({ type: "error", error, recoverable: true });
  }
}

function causeIn(error: Error): Error {
  return error.cause instanceof Error ? error.cause : error;
}

function transcriber(options: OpenaiTranscriptionOptions): Transcribe {
  const url = new URL(`${String(options.baseUrl).replace(/\/+$/, "")}/audio/transcriptions`);
  const secrets: Secrets = [options.apiKey, ...Object.values(options.headers ?? {})];
  const timeoutMs = options.timeoutMs ?? 15_000;
  const client = engineClient({ ...options, timeoutMs });

  return async (samples, sampleRate, signal) => {
    // The client's timeout ends with the headers; the body may stall after that.
    const stallScope = new AbortController();
    try {
      const boundary = `ringport${crypto.randomUUID().replaceAll("-", "")}`;
      const response = await client.post(url, {
        body: formOf(samples, sampleRate, boundary, options),
        headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
        signal: AbortSignal.any([signal, stallScope.signal]),
      });
      const timer = setTimeout(() => stallScope.abort(), timeoutMs);
      const body = await readAtMost(response, MAX_RESPONSE_BYTES).finally(() => clearTimeout(timer));
      const text = (jsonOf(body) as { text?: unknown } | null)?.text;
      if (typeof text !== "string") throw new Error("responded without text, or with broken JSON");
      return text;
    } catch (error) {
      signal.throwIfAborted();
      throw explain(error, stallScope.signal.aborted, timeoutMs, secrets);
    }
  };
}

function formOf(
  samples: Int16Array,
  sampleRate: number,
  boundary: string,
  { model, language, prompt }: OpenaiTranscriptionOptions,
): Uint8Array<ArrayBuffer> {
  const languages =
    typeof language === "string"
      ? [["language", language] as const]
      : (language ?? []).map((language) => ["languages[]", language] as const);
  const hint = prompt === undefined ? [] : [["prompt", prompt] as const];
  const bytes = [wavHeader({ sampleRate, samples: samples.length }), pcmToBytes(samples)];
  const fields = [["model", model] as const, ["response_format", "json"] as const, ...languages, ...hint];
  return multipart(boundary, fields, { name: "speech.wav", type: "audio/wav", bytes });
}

async function readAtMost(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > limit) throw new Error(`responded with more than ${limit} bytes`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

function explain(error: unknown, isStalled: boolean, timeoutMs: number, secrets: Secrets): Error {
  const faultOf = (problem: string) => engineFault(`the transcription server ${problem}`, secrets, error);
  if (error instanceof HTTPError) {
    const { status } = error.response;
    const fault = faultOf(engineRefusalText(status, error.data));
    return isPermanent(status) ? new PermanentFault(fault.message, { cause: fault }) : fault;
  }
  if (isStalled || error instanceof TimeoutError) return faultOf(`did not respond within ${timeoutMs} ms`);
  return faultOf(`failed: ${causeOf(error)}`);
}

/**
 * A form with one file, as bytes (RFC 7578). Node's FormData ends the process if a server responds before it has read
 * the whole body.
 * @param boundary letters and digits that no part contains
 */
function multipart(
  boundary: string,
  fields: readonly (readonly [name: string, value: string])[],
  file: { readonly name: string; readonly type: string; readonly bytes: readonly Uint8Array[] },
): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = fields.map(([name, value]) =>
    encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  );
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${file.name}"\r\n` +
    `Content-Type: ${file.type}\r\n\r\n`;
  parts.push(encoder.encode(head), ...file.bytes, encoder.encode(`\r\n--${boundary}--\r\n`));
  return concatBytes(parts);
}
