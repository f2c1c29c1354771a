import type { OpusDecoderHandle, OpusEncoderHandle } from "libopus-wasm";
import { type Codec, MAX_PAYLOAD_BYTES } from "./codec.ts";

/** Settings of the Opus encoder; the peer's decoder may use less (RFC 7587 section 6.1). */
interface OpusOptions {
  /** Average bit rate, bit/s. Default: 20,000. */
  readonly bitrate?: number | undefined;
  /** Complexity, 0 to 10: higher values use more processor time for better quality. Default: 5. */
  readonly complexity?: number | undefined;
}

const SAMPLE_RATE = 16_000;
const CLOCK_RATE = 48_000;
const FRAME_SAMPLES = SAMPLE_RATE / 50;
/**
 * Packet loss that the encoder should expect, percent. The encoder adds redundancy above 5 %; below about 20 %, at 20
 * kbit/s, it drops the upper 2 kHz of the voice to make room for it.
 */
const EXPECTED_LOSS_PERCENT = 20;

/**
 * A call's Opus encoder and decoder: speech at 16 kHz, one channel, with in-band redundancy (RFC 6716, RFC 7587). The
 * library, half a megabyte of WebAssembly, is loaded with the first codec.
 *
 * For each frame the library's wrapper allocates: a view of the frame and a copy of the packet (encoding), a copy of
 * the samples (decoding), and a short-lived list for checking the frame's length.
 */
export async function createOpus(options: OpusOptions = {}): Promise<Codec> {
  const { Application, Bandwidth, createDecoder, createEncoder, Signal } = await import("libopus-wasm");
  const encoder = await createEncoder({
    sampleRate: SAMPLE_RATE,
    channels: 1,
    application: Application.Voip,
    signal: Signal.Voice,
    maxBandwidth: Bandwidth.Wideband,
    bitrate: options.bitrate ?? 20_000,
    complexity: options.complexity ?? 5,
    fec: true,
    packetLossPercent: EXPECTED_LOSS_PERCENT,
  });
  try {
    return new OpusCodec(encoder, await createDecoder({ sampleRate: SAMPLE_RATE, channels: 1 }));
  } catch (fault) {
    encoder.free();
    throw fault;
  }
}

let loadPromise: Promise<void> | undefined;

/** Loads the library once, so that it is ready before the first word of an Opus call. Never rejects. */
export function loadOpus(): Promise<void> {
  loadPromise ??= createOpus().then(
    (codec) => codec.close(),
    () => {}, // creating a codec fails with the same error
  );
  return loadPromise;
}

class OpusCodec implements Codec {
  readonly name = "opus";
  readonly sampleRate: number = SAMPLE_RATE;
  readonly clockRate: number = CLOCK_RATE;
  readonly packetMs: readonly number[] = [10, 20, 40, 60];
  readonly #encoder: OpusEncoderHandle;
  readonly #decoder: OpusDecoderHandle;
  /** Options of the library's methods; one object of each kind for all frames. */
  readonly #encodeOptions = { frameSize: FRAME_SAMPLES, maxPacketBytes: MAX_PAYLOAD_BYTES };
  readonly #recoverOptions = { decodeFec: true, frameSize: FRAME_SAMPLES };
  readonly #concealOptions = { frameSize: FRAME_SAMPLES };
  #isClosed = false;

  constructor(encoder: OpusEncoderHandle, decoder: OpusDecoderHandle) {
    this.#encoder = encoder;
    this.#decoder = decoder;
  }

  encode(frame: Int16Array, output: Uint8Array, at: number): number {
    if (this.#isClosed) return 0;
    this.#encodeOptions.frameSize = frame.length;
    const packet = this.#encoder.encode(frame, this.#encodeOptions);
    output.set(packet, at);
    return packet.length;
  }

  decode(bytes: Uint8Array, at: number, length: number, output: Int16Array, start: number): number {
    return this.#decode(bytes.subarray(at, at + length), undefined, output, start);
  }

  recover(bytes: Uint8Array, at: number, length: number, samples: number, output: Int16Array, start: number): number {
    if (!carriesRedundancy(bytes, at, length)) return 0;
    this.#recoverOptions.frameSize = samples;
    return this.#decode(bytes.subarray(at, at + length), this.#recoverOptions, output, start);
  }

  conceal(samples: number, output: Int16Array, start: number): number {
    this.#concealOptions.frameSize = samples;
    return this.#decode(null, this.#concealOptions, output, start);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#encoder.free();
    this.#decoder.free();
  }

  #decode(
    packet: Uint8Array | null,
    options: { frameSize: number } | undefined,
    output: Int16Array,
    start: number,
  ): number {
    if (this.#isClosed || packet?.length === 0) return 0;
    try {
      const samples = this.#decoder.decode(packet, options);
      if (start + samples.length > output.length) return 0;
      output.set(samples, start);
      return samples.length;
    } catch {
      return 0; // not an Opus packet, or longer than 120 ms
    }
  }
}

/** Length bytes from this value on have a second byte (RFC 6716 section 3.2.1). */
const MIN_TWO_BYTE_LENGTH = 252;

/**
 * True if an Opus packet carries a copy of the previous one (low bit-rate redundancy, RFC 6716 section 4.2.4). The
 * library decodes any packet for its redundancy, and invents audio if there is none.
 */
export function carriesRedundancy(bytes: Uint8Array, at: number, length: number): boolean {
  if (length < 2 || at + length > bytes.length) return false;
  const toc = bytes[at]!;
  const configuration = toc >>> 3;
  if (configuration >= 16) return false; // CELT has no redundancy
  const frameAt = firstFrame(bytes, at, at + length);
  if (frameAt < 0) return false;
  // SILK puts its flags in front: one voice activity bit for each 20 ms, and one redundancy bit, for each channel.
  const parts = configuration < 12 ? (PARTS[configuration & 3] ?? 1) : 1;
  const flags = bytes[frameAt]!;
  const middle = (flags >>> (7 - parts)) & 1;
  const side = (toc & 4) === 0 ? 0 : (flags >>> (6 - 2 * parts)) & 1;
  return (middle | side) === 1;
}

/** Number of 20 ms parts in a SILK frame of 10, 20, 40 or 60 ms. */
const PARTS = [1, 1, 2, 3];

/** Offset of the packet's first frame; -1 if it is empty or missing. */
function firstFrame(bytes: Uint8Array, start: number, end: number): number {
  const code = bytes[start]! & 3;
  let at = start + 1;
  if (code === 2) {
    if (bytes[at] === 0) return -1;
    at += bytes[at]! < MIN_TWO_BYTE_LENGTH ? 1 : 2;
  } else if (code === 3) {
    const count = bytes[at++]!;
    if ((count & 0x40) !== 0) while (at < end && bytes[at++] === 255); // lengths of the padding
    if ((count & 0x80) !== 0) {
      if (bytes[at] === 0) return -1;
      for (let frame = 1; frame < (count & 0x3f); frame++) at += (bytes[at] ?? 0) < MIN_TWO_BYTE_LENGTH ? 1 : 2;
    }
  }
  return at < end ? at : -1;
}
