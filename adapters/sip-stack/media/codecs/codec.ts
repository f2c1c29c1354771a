export const CODEC_NAMES = ["PCMU", "PCMA", "G722", "opus"] as const;
/** An audio codec. */
export type CodecName = (typeof CODEC_NAMES)[number];

/** The longest packet that is decoded, ms: the maximum for Opus. */
export const MAX_PACKET_MS = 120;
/** Maximum number of bytes that an encoder writes for one packet. */
export const MAX_PAYLOAD_BYTES = 484;

/**
 * One call's encoder and decoder of one codec. Both keep state, so each stream has a separate one.
 *
 * All methods are synchronous, do not allocate per frame as far as the codec's library allows, and never throw,
 * whatever the peer sends.
 */
export interface Codec {
  readonly name: CodecName;
  /** Rate of the samples that are encoded and decoded, Hz. */
  readonly sampleRate: number;
  /** Rate of the RTP timestamp, Hz: always 48000 for Opus (RFC 7587), and half of `sampleRate` for G.722. */
  readonly clockRate: number;
  /**
   * Encodes the whole frame as one packet into `output` from `at`, which has room for `MAX_PAYLOAD_BYTES`; returns the
   * number of bytes written. The frame's length must be one of `packetMs`.
   */
  encode(frame: Int16Array, output: Uint8Array, at: number): number;
  /** The packet lengths that can be encoded, ms, ascending. */
  readonly packetMs: readonly number[];
  /**
   * Decodes one payload into `output` from `start`, which has room for `MAX_PACKET_MS`; returns the
   * number of samples, 0 for an invalid payload.
   */
  decode(bytes: Uint8Array, at: number, length: number, output: Int16Array, start: number): number;
  /**
   * Conceals a lost packet with `samples` samples (a multiple of 2.5 ms, at most one packet); returns their number.
   * Without this method the jitter buffer repeats the last audio.
   */
  conceal?(samples: number, output: Int16Array, start: number): number;
  /**
   * Decodes the lost previous packet from its copy in this packet (forward error correction), as `samples` samples;
   * returns their number, 0 without a copy.
   */
  recover?(bytes: Uint8Array, at: number, length: number, samples: number, output: Int16Array, start: number): number;
  /** Frees the memory of the codec's library. Idempotent. */
  close(): void;
}
