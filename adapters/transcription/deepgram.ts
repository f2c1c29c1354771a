import { encodeMulaw } from "../../src/audio/samples/g711-companding.ts";
import { pcmToBytes } from "../../src/audio/samples/pcm.ts";
import type { Transcription } from "../../src/ports/transcription.ts";
import { socketUrl } from "../provider-http/engine-socket.ts";
import { DeepgramReader, FluxReader } from "./deepgram-readers.ts";
import type { LiveProtocol } from "./live-protocol.ts";
import { LiveSession, type LiveTimeouts } from "./live-session.ts";

/**
 * Options of {@link deepgramTranscription}, for hosted or self-hosted Deepgram. Written from Deepgram's documentation.
 */
export interface DeepgramOptions {
  /** Base URL without a version: `https://api.deepgram.com`. */
  readonly baseUrl: string | URL;
  /** The server's API key; never part of an error message. */
  readonly apiKey: string;
  /** The model. There is no default: models come and go. */
  readonly model: string;
  /** True for the turn-based protocol (`/v2/listen`) of models named `flux-…`. Default: false (`/v1/listen`). */
  readonly flux?: boolean | undefined;
  /** The spoken language. */
  readonly language?: string | undefined;
  /** `mulaw` needs half the bandwidth, but works only at 8 kHz. Default: `linear16`. */
  readonly encoding?: "linear16" | "mulaw" | undefined;
  /** Additional query parameters: `{ smart_format: "true", keyterm: "Ringport" }`. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  readonly timeouts?: LiveTimeouts | undefined;
}

/** Length of the audio that is kept for sending it again on another connection, ms. */
const KEEP_MS = 10_000;

/**
 * Live transcription over one WebSocket per speaker. The engine detects the turns.
 *
 * Throws a TypeError for a malformed base URL.
 */
export function deepgramTranscription(options: DeepgramOptions): Transcription {
  const isMulaw = options.encoding === "mulaw";
  const scope = new AbortController();
  const address = addressOf(options, 8_000); // throws here, not during a call
  return {
    name: options.flux ? "deepgram-flux" : "deepgram",
    capabilities: {
      sampleRates: isMulaw ? [8_000] : [16_000, 8_000, 24_000, 48_000],
      endOfTurn: true,
      partial: true,
    },
    open: async ({ sampleRate }, signal) => {
      address.searchParams.set("sample_rate", String(sampleRate));
      return new LiveSession(
        protocolOf(new URL(address), options),
        { sampleRate, keepMs: KEEP_MS },
        options.timeouts ?? {},
        AbortSignal.any([signal, scope.signal]),
      );
    },
    close: async () => scope.abort(),
  };
}

function addressOf(options: DeepgramOptions, sampleRate: number): URL {
  const { baseUrl, model, flux = false, language, encoding = "linear16", parameters } = options;
  const url = socketUrl(String(baseUrl).replace(/\/v\d+\/*$/, ""), flux ? "/v2/listen" : "/v1/listen");
  const query = {
    model,
    encoding,
    sample_rate: String(sampleRate),
    ...(flux ? {} : { channels: "1", ...V1_TURNS }),
    ...(language === undefined ? {} : { [flux ? "language_hint" : "language"]: language }),
    ...parameters,
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/**
 * Requests partial texts during speech. A text is final after 300 ms of silence, or at the latest after a gap of one
 * second.
 */
const V1_TURNS = { interim_results: "true", endpointing: "300", utterance_end_ms: "1000", vad_events: "true" };

function protocolOf(url: URL, { apiKey, flux = false, encoding }: DeepgramOptions): LiveProtocol {
  return {
    url,
    headers: { authorization: `Token ${apiKey}` },
    secrets: [apiKey],
    opening: [],
    audio: (samples) => [encoding === "mulaw" ? encodeMulaw(samples) : pcmToBytes(samples)],
    commit: [],
    keepAlive: flux ? undefined : '{"type":"KeepAlive"}',
    finish: flux ? ['{"type":"CloseStream"}'] : ['{"type":"Finalize"}', '{"type":"CloseStream"}'],
    reader: (listener) => (flux ? new FluxReader(listener) : new DeepgramReader(listener)),
  };
}
