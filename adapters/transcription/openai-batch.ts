import { HTTPError, TimeoutError } from "ky";
import { concatPcm, pcmToBytes, samplesToMs } from "../../src/audio/pcm.ts";
import { wavHeader } from "../../src/audio/wav.ts";
import type { Transcription, TranscriptionSession } from "../../src/ports/transcription.ts";
import { engineClient } from "../engine-http/engine-client.ts";
import { causeOf, jsonOf, type Secrets } from "../engine-http/fault-text.ts";
import { engineFault, isLasting, refusalText } from "./engine-fault.ts";
import { HeardEvents } from "./heard-events.ts";
import { multipart } from "./multipart.ts";

/** A server that answers `POST {baseUrl}/audio/transcriptions`: OpenAI, Speaches, LocalAI, vLLM and others. */
export interface OpenaiTranscriptionOptions {
  /** With the version, without `/audio/transcriptions`: `http://localhost:8000/v1`. */
  readonly baseUrl: string | URL;
  /** Sent as a bearer token; never part of an error message. */
  readonly apiKey?: string | undefined;
  /** Which model listens. There is no default: hosted models come and go. */
  readonly model: string;
  /** What is spoken: one language is sent as `language`, several as `languages`, as newer models have it. */
  readonly language?: string | readonly string[] | undefined;
  /** Words that may come up, for models that take such a hint. */
  readonly prompt?: string | undefined;
  /** More headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long an answer may take, ms. Default: 15,000. */
  readonly timeoutMs?: number | undefined;
  /** How long the end of a call waits for answers, ms. Default: 5,000. */
  readonly closeMs?: number | undefined;
}

const MOST_ANSWER_BYTES = 1 << 20;
/** Audio that waits for a slow server: more than this, and the oldest turn is dropped. */
const MOST_WAITING_MS = 120_000;
/** A turn that nobody ends is sent at this length. */
const LONGEST_TURN_MS = 60_000;

/**
 * Transcribes turn by turn over HTTP. A request is made again (twice at most) where the server has not begun to answer
 * or says that it is busy; a request that takes too long is not, for the server may still work on it.
 *
 * Throws a TypeError for a base URL that is none.
 */
export function openaiTranscription(options: OpenaiTranscriptionOptions): Transcription {
  const ask = asker(options);
  const scope = new AbortController();
  return {
    name: "openai",
    capabilities: { sampleRates: [16_000, 8_000, 24_000, 48_000], endOfTurn: false, partial: false },
    open: async ({ sampleRate }, signal) =>
      new BatchSession(ask, sampleRate, options.closeMs ?? 5_000, AbortSignal.any([signal, scope.signal])),
    close: async () => scope.abort(),
  };
}

/** A stretch of speech that is over. */
interface Turn {
  readonly samples: Int16Array;
  readonly startMs: number;
  readonly endMs: number;
}

/** What the server has understood. @throws {LastingFault | TranscriptionFailed} */
type Ask = (samples: Int16Array, sampleRate: number, signal: AbortSignal) => Promise<string>;

/** A fault that every other request would meet too. */
class LastingFault extends Error {}

/** One request at a time, so that the texts come in the order of speaking. */
class BatchSession implements TranscriptionSession {
  readonly events = new HeardEvents();
  readonly #ask: Ask;
  readonly #sampleRate: number;
  readonly #closeMs: number;
  readonly #scope = new AbortController();
  readonly #signal: AbortSignal;
  #pieces: Int16Array[] = [];
  #length = 0;
  #startMs = 0;
  readonly #turns: Turn[] = [];
  #waitingMs = 0;
  #working: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(ask: Ask, sampleRate: number, closeMs: number, signal: AbortSignal) {
    this.#ask = ask;
    this.#sampleRate = sampleRate;
    this.#closeMs = closeMs;
    this.#signal = AbortSignal.any([signal, this.#scope.signal]);
    this.#signal.addEventListener("abort", () => this.events.end(), { once: true });
    if (this.#signal.aborted) this.events.end();
  }

  push(samples: Int16Array, atMs: number): void {
    if (this.#closing !== undefined || this.#signal.aborted) return;
    if (this.#length === 0) this.#startMs = atMs;
    this.#pieces.push(samples.slice());
    this.#length += samples.length;
    if (samplesToMs(this.#length, this.#sampleRate) >= LONGEST_TURN_MS) this.commit();
  }

  commit(): void {
    if (this.#length === 0 || this.#signal.aborted) return;
    const ms = samplesToMs(this.#length, this.#sampleRate);
    this.#turns.push({ samples: concatPcm(this.#pieces), startMs: this.#startMs, endMs: this.#startMs + ms });
    this.#pieces = [];
    this.#length = 0;
    this.#waitingMs += ms;
    while (this.#waitingMs > MOST_WAITING_MS && this.#turns.length > 1) this.#drop();
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    const late = setTimeout(() => this.#scope.abort(), this.#closeMs);
    while (this.#working && !this.#signal.aborted) await this.#working;
    clearTimeout(late);
    this.#scope.abort();
    this.events.end();
  }

  async #work(): Promise<void> {
    for (let turn = this.#turns.shift(); turn && !this.#signal.aborted; turn = this.#turns.shift()) {
      const { samples, startMs, endMs } = turn;
      this.#waitingMs -= endMs - startMs;
      try {
        const text = await this.#ask(samples, this.#sampleRate, this.#signal);
        this.events.say({ type: "final", text, startMs, endMs });
      } catch (error) {
        if (this.#signal.aborted) return;
        const recoverable = !(error instanceof LastingFault);
        this.events.say({ type: "error", error: recoverable ? (error as Error) : causeIn(error), recoverable });
        if (!recoverable) this.#scope.abort();
      }
    }
  }

  #drop(): void {
    const turn = this.#turns.shift();
    if (turn === undefined) return;
    const ms = turn.endMs - turn.startMs;
    this.#waitingMs -= ms;
    const error = engineFault(`The transcription server is too slow: ${Math.round(ms)} ms of speech were dropped.`, []);
    this.events.say({ type: "error", error, recoverable: true });
  }
}

function causeIn(error: Error): Error {
  return error.cause instanceof Error ? error.cause : error;
}

function asker(options: OpenaiTranscriptionOptions): Ask {
  const url = new URL(`${String(options.baseUrl).replace(/\/+$/, "")}/audio/transcriptions`);
  const secrets: Secrets = [options.apiKey, ...Object.values(options.headers ?? {})];
  const timeoutMs = options.timeoutMs ?? 15_000;
  const client = engineClient({ ...options, timeoutMs });

  return async (samples, sampleRate, signal) => {
    // The body of an answer may stall after its headers came, which no timeout of the client sees.
    const patience = new AbortController();
    try {
      const boundary = `ringport${crypto.randomUUID().replaceAll("-", "")}`;
      const response = await client.post(url, {
        body: formOf(samples, sampleRate, boundary, options),
        headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
        signal: AbortSignal.any([signal, patience.signal]),
      });
      const timer = setTimeout(() => patience.abort(), timeoutMs);
      const answer = await readAtMost(response, MOST_ANSWER_BYTES).finally(() => clearTimeout(timer));
      const text = (jsonOf(answer) as { text?: unknown } | null)?.text;
      if (typeof text !== "string") throw new Error("answered without a text, or with broken JSON");
      return text;
    } catch (error) {
      signal.throwIfAborted();
      throw explained(error, patience.signal.aborted, timeoutMs, secrets);
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
      : (language ?? []).map((one) => ["languages[]", one] as const);
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
    if (bytes > limit) throw new Error(`answered with more than ${limit} bytes`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

function explained(error: unknown, stalled: boolean, timeoutMs: number, secrets: Secrets): Error {
  const sentence = (what: string) => engineFault(`The transcription server ${what}.`, secrets, error);
  if (error instanceof HTTPError) {
    const { status } = error.response;
    const fault = sentence(refusalText(status, error.data));
    return isLasting(status) ? new LastingFault(fault.message, { cause: fault }) : fault;
  }
  if (stalled || error instanceof TimeoutError) return sentence(`did not answer within ${timeoutMs} ms`);
  return sentence(`failed: ${causeOf(error)}`);
}
