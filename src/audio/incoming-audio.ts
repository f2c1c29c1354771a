import { nextTurn } from "../base/next-turn.ts";
import { AudioUnsupported, type Mp3Stream } from "../ports/audio-decoder.ts";
import { AudioOpening, type OpenedAudio } from "./audio-opening.ts";
import { NotAudio } from "./not-audio.ts";
import { samplesToMs } from "./pcm.ts";
import { PcmByteStream } from "./pcm-byte-stream.ts";
import { type StreamEncoding, sampleCoding } from "./stream-format.ts";

/** Options of {@link IncomingAudio}. */
export interface IncomingAudioOptions {
  /** Default: detected by the first bytes. An MP3 begins with an ID3 tag or a frame; everything else is PCM. */
  readonly encoding: StreamEncoding | undefined;
  /** Sample rate of PCM, mu-law and A-law, Hz; an MP3 states its own. */
  readonly sampleRate: number;
  /** Opens a decoder; undefined if MP3 cannot be decoded. */
  readonly mp3: (() => Promise<Mp3Stream>) | undefined;
  /** False: the first bytes are not held back, and the encoding is stated. Default: true. */
  readonly isHeldBack?: boolean | undefined;
  /** Resolves when this much audio can be taken, ms; undefined if it can be taken now. Default: always now. */
  readonly room?: ((ms: number) => Promise<void> | undefined) | undefined;
  /** Receives the decoded samples, mono; the array is not reused. */
  readonly decoded: (samples: Int16Array, sampleRate: number) => void;
}

export { NotAudio };

/** MP3 that is decoded in one turn of the event loop, bytes: a few milliseconds of work. */
const TURN_BYTES = 4096;
/** Samples that are decoded before the next look for room, bytes: 2 s of mu-law at 8 kHz. */
const SLICE_BYTES = 16_384;
/** The room that a slice needs at most, ms: MP3 of 8 kbit/s. */
const SLICE_MS = 5_000;
/** Longer messages are decoded in slices, ms. */
const MAX_WHOLE_MS = 50_000;

/**
 * Decodes audio that arrives in pieces of any size, cut anywhere, which does not affect the samples.
 *
 * Holds back only the first 12 bytes (see {@link AudioOpening}), half a sample, and an incomplete MP3 frame.
 */
export class IncomingAudio {
  readonly #options: IncomingAudioOptions;
  #opening: AudioOpening | undefined;
  #encoding: StreamEncoding | undefined;
  #pcm = new PcmByteStream();
  #mp3: Mp3Stream | undefined;
  /** MP3 bytes decoded in this turn. */
  #decodedNow = 0;
  #closed = false;
  /** Number of resets so far. */
  #resets = 0;

  constructor(options: IncomingAudioOptions) {
    this.#options = options;
    this.#begin(options.encoding);
  }

  /**
   * Adds the next bytes. If decoding takes long, it is done in slices with pauses, and the result is a promise: push
   * nothing more before that has resolved.
   * @throws {NotAudio} at once, or by rejecting; the decoder is closed then
   */
  push(bytes: Uint8Array): void | Promise<void> {
    if (this.#closed) return;
    if (this.#opening === undefined) return this.#decode(bytes);
    const opened = this.#open(this.#opening, bytes);
    if (opened === undefined) return;
    this.#opening = undefined;
    this.#encoding = opened.encoding;
    return this.#decode(opened.bytes);
  }

  /**
   * Drops what is held back, and what a pending {@link push} has not decoded yet. The next bytes begin a new sample, or a
   * new MP3 frame, of the format that is known by now.
   */
  reset(): void {
    if (this.#closed) return;
    this.#resets++;
    this.#pcm = new PcmByteStream();
    this.#mp3?.close();
    this.#mp3 = undefined;
    this.#begin(this.#encoding ?? this.#options.encoding);
  }

  #begin(encoding: StreamEncoding | undefined): void {
    if (this.#options.isHeldBack === false) this.#encoding = encoding;
    else this.#opening = new AudioOpening(encoding);
  }

  /** Frees the decoder. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#opening = undefined;
    this.#mp3?.close();
    this.#mp3 = undefined;
  }

  #open(opening: AudioOpening, bytes: Uint8Array): OpenedAudio | undefined {
    try {
      return opening.push(bytes);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #decode(bytes: Uint8Array): void | Promise<void> {
    if (this.#encoding === "mp3") {
      const isShort = this.#mp3 !== undefined && this.#decodedNow + bytes.length <= TURN_BYTES;
      if (!isShort || this.#options.room?.(SLICE_MS)) return this.#decodeInSlices(bytes, this.#resets);
      return this.#decodeMp3(bytes);
    }
    const { bytesPerSample } = sampleCoding(this.#encoding);
    const ms = samplesToMs(bytes.length / bytesPerSample, this.#options.sampleRate);
    if (ms > MAX_WHOLE_MS || this.#options.room?.(ms)) return this.#decodeInSlices(bytes, this.#resets);
    this.#decodeSamples(bytes);
  }

  async #decodeInSlices(bytes: Uint8Array, resets: number): Promise<void> {
    const isMp3 = this.#encoding === "mp3";
    if (isMp3 && this.#mp3 === undefined) await this.#openMp3();
    for (let at = 0; at < bytes.length && !this.#closed && this.#resets === resets; ) {
      const room = this.#options.room?.(SLICE_MS);
      if (room) await room;
      else if (isMp3 && this.#decodedNow >= TURN_BYTES) {
        await nextTurn();
        this.#decodedNow = 0;
      } else {
        const slice = bytes.subarray(at, at + (isMp3 ? TURN_BYTES - this.#decodedNow : SLICE_BYTES));
        at += slice.length;
        if (isMp3) this.#decodeMp3(slice);
        else this.#decodeSamples(slice);
      }
    }
  }

  #decodeSamples(bytes: Uint8Array): void {
    const coding = sampleCoding(this.#encoding);
    const samples = coding.bytesPerSample === 1 ? coding.decode(bytes) : this.#pcm.push(bytes);
    if (samples.length > 0) this.#options.decoded(samples, this.#options.sampleRate);
  }

  async #openMp3(): Promise<void> {
    if (this.#options.mp3 === undefined)
      throw new NotAudio("MP3 cannot be decoded here: send 16-bit PCM, mu-law or A-law");
    const mp3 = await this.#options.mp3();
    if (this.#closed) mp3.close();
    else this.#mp3 = mp3;
  }

  #decodeMp3(bytes: Uint8Array): void {
    this.#decodedNow += bytes.length;
    try {
      for (const { samples, sampleRate } of this.#mp3?.push(bytes) ?? []) {
        if (!this.#closed) this.#options.decoded(samples, sampleRate);
      }
    } catch (error) {
      this.close();
      if (error instanceof AudioUnsupported) throw new NotAudio(error.message, { cause: error });
      throw error;
    }
  }
}
