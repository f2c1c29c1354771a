import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from "./g711-companding.ts";
import { pcmFromBytes, pcmToBytes } from "./pcm.ts";

/** Sample encodings of a stream. */
export const SAMPLE_ENCODINGS = ["pcm_s16le", "mulaw", "alaw"] as const;
/** One of {@link SAMPLE_ENCODINGS}. */
export type SampleEncoding = (typeof SAMPLE_ENCODINGS)[number];

/** Encodings of the audio that a client streams. */
export const STREAM_ENCODINGS = [...SAMPLE_ENCODINGS, "mp3"] as const;
/** One of {@link STREAM_ENCODINGS}. */
export type StreamEncoding = (typeof STREAM_ENCODINGS)[number];

/** Sample rates of a stream, Hz: 20 ms is a whole number of samples at each. */
export const STREAM_RATES = [8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;
/** One of {@link STREAM_RATES}. */
export type StreamRate = (typeof STREAM_RATES)[number];

/** The sample format of an encoding. */
export interface SampleCoding {
  readonly bytesPerSample: 1 | 2;
  /** Hz. */
  readonly defaultRate: StreamRate;
  /** Decodes whole samples into a new array. */
  decode(bytes: Uint8Array): Int16Array;
  /** Encodes samples into a new array. */
  encode(samples: Int16Array): Uint8Array;
}

/** The codec of each sample encoding. */
export const SAMPLE_CODINGS: Readonly<Record<SampleEncoding, SampleCoding>> = {
  pcm_s16le: { bytesPerSample: 2, defaultRate: 16_000, decode: pcmFromBytes, encode: pcmToBytes },
  mulaw: {
    bytesPerSample: 1,
    defaultRate: 8_000,
    decode: (codes) => decodeMulaw(codes),
    encode: (s) => encodeMulaw(s),
  },
  alaw: { bytesPerSample: 1, defaultRate: 8_000, decode: (codes) => decodeAlaw(codes), encode: (s) => encodeAlaw(s) },
};

/** The codec of the audio sent to a client: that of its own audio, or 16-bit PCM. */
export function sampleCoding(encoding: StreamEncoding | undefined): SampleCoding {
  return SAMPLE_CODINGS[encoding === undefined || encoding === "mp3" ? "pcm_s16le" : encoding];
}
