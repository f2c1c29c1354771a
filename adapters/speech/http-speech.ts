import { HTTPError, TimeoutError } from "ky";
import { SpokenLength } from "../../src/audio/voice/spoken-length.ts";
import { printableCause } from "../../src/base/error.ts";
import { ownMember } from "../../src/base/own-member.ts";
import type { Mp3Stream } from "../../src/ports/audio-decoder.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import type { Speech, Voice } from "../../src/ports/speech.ts";
import { engineClient } from "../provider-http/engine-client.ts";
import { causeOf, quoteOf, withoutSecrets } from "../provider-http/fault-text.ts";
import { readWithin } from "../provider-http/response-body.ts";
import { engineSpeech } from "./engine-speech.ts";
import { parseVoiceId } from "./parse-voice-id.ts";
import { SpokenBody } from "./spoken-body.ts";

/** A speech server's voice. */
export interface HttpVoice {
  /** The server's name for the voice: `pf_dora`. */
  readonly voice: string;
  /** A model other than {@link HttpSpeechOptions.model}. */
  readonly model?: string | undefined;
  /** Speed of speech; 1 is the voice's normal speed. Most servers accept 0.25 to 4. */
  readonly speed?: number | undefined;
  /** Sent as `language`, for servers whose voices speak several languages. */
  readonly language?: string | undefined;
  /** Scripts that the voice speaks, ISO 15924: `["Latn"]`. Default: all scripts. */
  readonly scripts?: readonly string[] | undefined;
}

/** A server with `POST {baseUrl}/audio/speech`: Kokoro-FastAPI, Speaches, LocalAI and others. */
export interface HttpSpeechOptions {
  /** Base URL including the version, without `/audio/speech`: `http://localhost:8880/v1`. */
  readonly baseUrl: string | URL;
  /** Sent as a bearer token; never part of an error message. */
  readonly apiKey?: string | undefined;
  /** The speech model. There is no default: hosted models come and go. */
  readonly model: string;
  /** The server's voice for each voice id: `{ "pt-BR-1": { voice: "pf_dora" } }`. */
  readonly voices: Readonly<Record<string, HttpVoice>>;
  /** Sample rate if the server does not report it, Hz. Default: 24,000. */
  readonly sampleRate?: number | undefined;
  /** `wav` if the server can send a header with the sample rate. Default: `pcm`. */
  readonly responseFormat?: "pcm" | "wav" | undefined;
  /** Maximum number of concurrent requests. Default: 4. */
  readonly atOnce?: number | undefined;
  /** Additional headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Longest wait for the start of the response and between its chunks, ms. Default: 15,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Speech from a server with the `POST /audio/speech` protocol. A request is repeated (at most twice) only before the
 * first byte of a response: after that, part of the text may have been played.
 *
 * Throws a TypeError for a malformed voice id or base URL.
 * @param mp3Stream decodes MP3, for servers that send MP3 whatever is requested; without it, MP3 is refused
 */
export function httpSpeech(options: HttpSpeechOptions, mp3Stream?: () => Promise<Mp3Stream>): Speech {
  const malformedId = Object.keys(options.voices).find((id) => !parseVoiceId(id));
  if (malformedId !== undefined) throw new TypeError(`"${malformedId}" is not a voice id; write it like "pt-BR-1"`);
  const url = new URL(`${String(options.baseUrl).replace(/\/+$/, "")}/audio/speech`);
  const timeoutMs = options.timeoutMs ?? 15_000;
  const secrets = [options.apiKey, ...Object.values(options.headers ?? {})];
  const client = engineClient({ ...options, timeoutMs });

  async function* speak({ id }: Voice, text: string, signal: AbortSignal): AsyncGenerator<PcmChunk, void> {
    const connection = new AbortController();
    const { voice, model = options.model, speed, language } = ownMember(options.voices, id) as HttpVoice;
    const json = {
      model,
      input: text,
      voice,
      response_format: options.responseFormat ?? "pcm",
      ...(speed === undefined ? {} : { speed }),
      ...(language === undefined ? {} : { language }),
    };
    let body: SpokenBody | undefined;
    try {
      const response = await client.post(url, { json, signal: AbortSignal.any([signal, connection.signal]) });
      const contentType = response.headers.get("content-type");
      body = new SpokenBody({ contentType, sampleRate: options.sampleRate ?? 24_000, mp3Stream });
      const length = new SpokenLength();
      for await (const bytes of readWithin(response, timeoutMs, signal)) {
        for (const piece of await body.push(bytes)) {
          length.add(piece);
          yield piece;
        }
      }
      for (const piece of await body.finish()) {
        length.add(piece);
        yield piece;
      }
    } catch (error) {
      signal.throwIfAborted();
      const hide = (text: string) => withoutSecrets(text, secrets);
      throw new Error(hide(explain(error, timeoutMs)), { cause: printableCause(error, hide) });
    } finally {
      body?.close();
      connection.abort();
    }
  }

  return engineSpeech({
    name: "http",
    atOnce: options.atOnce ?? 4,
    isLocal: false,
    voices: async () => Object.entries(options.voices).map(([id, voice]) => voiceOf(id, voice)),
    async find({ id, tag, number }) {
      const voice = ownMember(options.voices, id);
      if (voice) return voiceOf(id, voice);
      const bestId = number === 1 ? Object.keys(options.voices).find((id) => parseVoiceId(id)?.tag === tag) : undefined;
      return bestId === undefined ? undefined : voiceOf(bestId, ownMember(options.voices, bestId)!);
    },
    speak,
  });
}

function voiceOf(id: string, { voice, scripts }: HttpVoice): Voice {
  const language = id.slice(0, id.lastIndexOf("-"));
  return { id, language, engine: "http", name: voice, quality: "natural", ...(scripts && { scripts }) };
}

function explain(error: unknown, timeoutMs: number): string {
  if (error instanceof HTTPError) {
    const { status, statusText } = error.response;
    const quote = quoteOf(error.data);
    return `the speech server responded with ${status}${statusText ? ` ${statusText}` : ""}${quote ? `: ${quote}` : ""}`;
  }
  if (error instanceof TimeoutError) return `the speech server did not respond within ${timeoutMs} ms`;
  return `the speech server failed: ${causeOf(error)}`;
}
