import { HTTPError, TimeoutError } from "ky";
import { SpokenLength } from "../../src/audio/spoken-length.ts";
import { printableCause } from "../../src/base/printable-cause.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import { engineClient } from "../engine-http/engine-client.ts";
import { causeOf, quoteOf, withoutSecrets } from "../engine-http/fault-text.ts";
import type { EngineVoice, SpeechEngine } from "./engine.ts";
import { rateOfContentType, SpokenBody } from "./spoken-body.ts";
import { parseVoiceId } from "./voice-id.ts";

/** One voice of a speech server. */
export interface HttpVoice {
  /** The server's name of the voice: `pf_dora`. */
  readonly voice: string;
  /** Another model than {@link HttpSpeechOptions.model}. */
  readonly model?: string | undefined;
  /** 1 is the voice's own speed; most servers take 0.25 to 4. */
  readonly speed?: number | undefined;
  /** Sent as `language`, for servers whose voices speak several. */
  readonly language?: string | undefined;
}

/** A server that answers `POST {baseUrl}/audio/speech`: Kokoro-FastAPI, Speaches, LocalAI and others. */
export interface HttpSpeechOptions {
  /** With the version, without `/audio/speech`: `http://localhost:8880/v1`. */
  readonly baseUrl: string | URL;
  /** Sent as a bearer token; never part of an error message. */
  readonly apiKey?: string | undefined;
  /** Which model speaks. There is no default: hosted models come and go. */
  readonly model: string;
  /** Which voice of the server stands behind which voice id: `{ "pt-BR-1": { voice: "pf_dora" } }`. */
  readonly voices: Readonly<Record<string, HttpVoice>>;
  /** Hz of the samples where the server does not say. Default 24000. */
  readonly sampleRate?: number | undefined;
  /** `wav` where the server's samples come with a header that tells their rate. Default `pcm`. */
  readonly responseFormat?: "pcm" | "wav" | undefined;
  /** Requests under way at the same time. Default 4. */
  readonly atOnce?: number | undefined;
  /** More headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long the server may take to begin its answer, and between two pieces of it. Default 15 000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Speech from a server with the `POST /audio/speech` protocol. Tries again (twice at most) only before the first byte
 * of an answer: later, part of it may have been heard.
 *
 * Throws a TypeError for a voice id of a wrong form or a base URL that is none.
 */
export function httpEngine(options: HttpSpeechOptions): SpeechEngine {
  const wrong = Object.keys(options.voices).find((id) => !parseVoiceId(id));
  if (wrong !== undefined) throw new TypeError(`"${wrong}" is no voice id; write it like "pt-BR-1".`);
  const url = new URL(`${String(options.baseUrl).replace(/\/+$/, "")}/audio/speech`);
  const timeoutMs = options.timeoutMs ?? 15_000;
  const secrets = [options.apiKey, ...Object.values(options.headers ?? {})];
  const client = engineClient({ ...options, timeoutMs });

  async function* speak(voice: EngineVoice, text: string, signal: AbortSignal): AsyncGenerator<PcmChunk, void> {
    const connection = new AbortController();
    const json = {
      model: voice.model ?? options.model,
      input: text,
      voice: voice.name,
      response_format: options.responseFormat ?? "pcm",
      ...(voice.speed === undefined ? {} : { speed: voice.speed }),
      ...(voice.language === undefined ? {} : { language: voice.language }),
    };
    try {
      const response = await client.post(url, { json, signal: AbortSignal.any([signal, connection.signal]) });
      const contentType = response.headers.get("content-type");
      refuseUnlessSamples(contentType);
      const body = new SpokenBody(rateOfContentType(contentType) ?? options.sampleRate ?? 24_000);
      const length = new SpokenLength();
      for await (const bytes of readWithin(response, timeoutMs, signal)) {
        const piece = body.push(bytes);
        if (piece === undefined) continue;
        length.add(piece);
        yield piece;
      }
      body.finish();
    } catch (error) {
      signal.throwIfAborted();
      const hide = (text: string) => withoutSecrets(text, secrets);
      throw new Error(hide(explain(error, timeoutMs)), { cause: printableCause(error, hide) });
    } finally {
      connection.abort();
    }
  }

  return {
    name: "http",
    available: async () => true,
    list: async () => Object.entries(options.voices).map(([id, voice]) => [id, voiceOf(voice)] as const),
    async find({ id }) {
      const voice = Object.hasOwn(options.voices, id) ? options.voices[id] : undefined;
      return voice && voiceOf(voice);
    },
    named: async (name) => voiceOf({ voice: name }),
    speak,
  };
}

function voiceOf({ voice, model, speed, language }: HttpVoice): EngineVoice {
  return { engine: "http", name: voice, quality: "natural", model, speed, language };
}

/** The body piece by piece; throws when nothing comes for `timeoutMs`, and the signal's reason when aborted. */
async function* readWithin(response: Response, timeoutMs: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  let stop: (reason: unknown) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = reject;
  });
  // Not every read is waiting when the stop comes.
  stopped.catch(() => {});
  const abort = (): void => stop(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    while (true) {
      const timer = setTimeout(() => stop(new Error(`The server sent nothing for ${timeoutMs} ms.`)), timeoutMs);
      const { done, value } = await Promise.race([reader.read(), stopped]).finally(() => clearTimeout(timer));
      if (done) return;
      if (value.length > 0) yield value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    reader.cancel().catch(() => {});
  }
}

/** Refuses what would be played as noise: an error page, or a compressed format that was not asked for. */
function refuseUnlessSamples(contentType: string | null): void {
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  const refused = /^(text\/|application\/(json|problem\+json|xml))|^audio\/(mpeg|mp3|ogg|opus|aac|flac|mp4|webm)$/;
  if (refused.test(type)) throw new Error(`The server answered with ${type} instead of samples.`);
}

function explain(error: unknown, timeoutMs: number): string {
  if (error instanceof HTTPError) {
    const { status, statusText } = error.response;
    const quote = quoteOf(error.data);
    return `The speech server answered ${status}${statusText ? ` ${statusText}` : ""}${quote ? `: ${quote}` : "."}`;
  }
  if (error instanceof TimeoutError) return `The speech server did not answer within ${timeoutMs} ms.`;
  return `The speech server failed: ${causeOf(error)}`;
}
