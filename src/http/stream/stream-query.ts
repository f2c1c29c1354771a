import {
  STREAM_ENCODINGS,
  STREAM_RATES,
  type StreamEncoding,
  type StreamRate,
  sampleCoding,
} from "../../audio/samples/stream-format.ts";
import { Refusal } from "../../domain/refusal.ts";
import { choiceParameter, type QueryParameter, type QueryValues } from "../requests/query-parameter.ts";

const sampleRate: QueryParameter<StreamRate> = {
  name: "sample_rate",
  description:
    "Samples per second of PCM, mu-law and A-law, in both directions. Default: 16000 for PCM, otherwise 8000. An MP3 contains " +
    "its own rate; then this is the rate of the callee's audio.",
  schema: { type: "integer", enum: STREAM_RATES },
  rule: `one of ${STREAM_RATES.join(", ")}`,
  read: (text) => STREAM_RATES.find((rate) => String(rate) === text),
};

/** The refusal of a request that is not a WebSocket handshake. */
export function handshakeRefusal(): Refusal {
  return new Refusal("upgrade_required", "the request is not a WebSocket handshake: connect with a WebSocket client");
}

/** The ticket of a WebSocket. */
export const TICKET: QueryParameter<string> = {
  name: "ticket",
  description:
    "A ticket of this call, in place of the Authorization header, which browsers cannot set for a WebSocket.",
  schema: { type: "string" },
  rule: "a stream ticket",
  read: (text) => text,
};

/** Query parameters of a stream. */
export const STREAM_QUERY = {
  encoding: choiceParameter(
    "encoding",
    "Encoding of the client's audio. Default: the first frame decides between MP3 and PCM.",
    STREAM_ENCODINGS,
  ),
  sampleRate,
  audio: choiceParameter(
    "audio",
    "`callee`: the server sends the callee's audio as binary frames of 20 ms, in the same encoding and rate (for MP3 as PCM).",
    ["callee"],
  ),
  protocol: choiceParameter(
    "protocol",
    "`twilio`: the messages of Twilio Media Streams instead of those described here. Then `encoding`, `sample_rate` and " +
      "`audio` are ignored, and each `parameter.<name>=<value>` becomes one of the `customParameters` of `start`.",
    ["twilio"],
  ),
  ticket: TICKET,
} as const;

/** The audio format of a stream. */
export interface StreamFormat {
  /** Encoding of the client's audio; undefined: its first bytes decide. */
  readonly encoding: StreamEncoding | undefined;
  /** Sample rate in both directions, Hz. */
  readonly sampleRate: number;
  /** True if the client receives the callee's audio. */
  readonly callee: boolean;
}

/**
 * The format that a query requests.
 * @throws {Refusal} `invalid_request` if the encoding is MP3 and there is no decoder
 */
export function streamFormat(
  { encoding, sampleRate, audio }: QueryValues<typeof STREAM_QUERY>,
  canDecodeMp3: boolean,
): StreamFormat {
  if (encoding === "mp3" && !canDecodeMp3) {
    const detail = "encoding must be pcm_s16le, mulaw or alaw: MP3 cannot be decoded here";
    const fault = { pointer: "", parameter: "encoding", code: "value_invalid", detail } as const;
    throw new Refusal("invalid_request", detail, { errors: [fault] });
  }
  return { encoding, sampleRate: sampleRate ?? sampleCoding(encoding).defaultRate, callee: audio === "callee" };
}
