import { type SampleCoding, type StreamEncoding, sampleCoding } from "../../audio/samples/stream-format.ts";
import type { StreamOptions } from "./call-stream.ts";

/** The byte rate of an MP3 of 64 kbit/s; the real rate is unknown without decoding it. */
const MP3_BYTES_PER_S = 8_000;

/** Turns written audio into the bytes of a stream's encoding, and received bytes into samples. */
export class StreamCodec {
  readonly encoding: StreamEncoding;
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  readonly #coding: SampleCoding;
  /** The first byte of a split sample. */
  #splitByte: number | undefined;

  constructor({ encoding = "pcm_s16le", sampleRate }: StreamOptions) {
    this.encoding = encoding;
    this.#coding = sampleCoding(encoding);
    this.sampleRate = sampleRate ?? this.#coding.defaultRate;
  }

  /** Number of bytes per second of written audio; an estimate for MP3. */
  get bytesPerSecond(): number {
    if (this.encoding === "mp3") return MP3_BYTES_PER_S;
    return this.#coding.bytesPerSample * this.sampleRate;
  }

  /**
   * The bytes of whole samples; an incomplete sample at the end waits for the next call.
   * @throws {TypeError} for samples on a stream of MP3
   */
  encode(audio: Int16Array | Uint8Array): Uint8Array<ArrayBuffer> {
    if (audio instanceof Int16Array) {
      if (this.#coding.bytesPerSample === 1) return this.#coding.encode(audio) as Uint8Array<ArrayBuffer>;
      if (this.encoding === "mp3")
        throw new TypeError("samples cannot be written to a stream with the encoding mp3: write the bytes of the MP3");
    }
    // Typed arrays have the byte order of the machine, which is little-endian wherever JavaScript runs.
    const bytes = new Uint8Array(audio.buffer as ArrayBuffer, audio.byteOffset, audio.byteLength);
    if (this.encoding !== "pcm_s16le" || (this.#splitByte === undefined && bytes.length % 2 === 0)) return bytes;
    // Only whole samples are sent: a connection that breaks within a sample would shift all later samples.
    const wholeBytes = new Uint8Array(bytes.length + (this.#splitByte === undefined ? 0 : 1));
    if (this.#splitByte !== undefined) wholeBytes[0] = this.#splitByte;
    wholeBytes.set(bytes, wholeBytes.length - bytes.length);
    this.#splitByte = wholeBytes.length % 2 === 0 ? undefined : wholeBytes.at(-1);
    return wholeBytes.subarray(0, wholeBytes.length & ~1);
  }

  /** The samples of received bytes. */
  decode(data: ArrayBuffer): Int16Array<ArrayBuffer> {
    if (this.#coding.bytesPerSample === 2) return new Int16Array(data, 0, data.byteLength >> 1);
    return this.#coding.decode(new Uint8Array(data)) as Int16Array<ArrayBuffer>;
  }

  /** Drops the first byte of a split sample. */
  reset(): void {
    this.#splitByte = undefined;
  }
}
