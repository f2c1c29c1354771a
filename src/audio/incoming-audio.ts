import type { Mp3Stream } from "../ports/audio-decoder.ts";
import { PcmByteStream } from "./pcm-byte-stream.ts";

/** How a client may encode the audio that it streams. */
export const STREAM_ENCODINGS = ["pcm_s16le", "mulaw", "mp3"] as const;
export type StreamEncoding = (typeof STREAM_ENCODINGS)[number];

/** What is known beforehand about the bytes that will come. */
export interface IncomingAudioOptions {
  /** Undefined: the first bytes decide. */
  readonly encoding: StreamEncoding | undefined;
  /** Of PCM and mu-law, Hz; an MP3 says its own. */
  readonly sampleRate: number;
  /** Opens a decoder; undefined where MP3 cannot be decoded. */
  readonly mp3: (() => Promise<Mp3Stream>) | undefined;
  /** Takes what was decoded, mono; the array is not used again. */
  readonly decoded: (samples: Int16Array, sampleRate: number) => void;
}

/** Thrown for bytes that are not the audio they should be; the message is for the person who sends them. */
export class NotAudio extends Error {
  override readonly name = "NotAudio";
}

/** Audio that arrives in pieces of any size, cut anywhere, as samples. */
export class IncomingAudio {
  readonly #options: IncomingAudioOptions;
  readonly #pcm = new PcmByteStream();

  constructor(options: IncomingAudioOptions) {
    this.#options = options;
  }

  /**
   * Takes the next bytes. What takes long to decode is decoded in slices with pauses between them: then it answers a
   * promise, and nothing more may be pushed before that has resolved.
   * @throws {NotAudio} at once, or by the promise
   */
  push(bytes: Uint8Array): void | Promise<void> {
    const samples = this.#pcm.push(bytes);
    if (samples.length > 0) this.#options.decoded(samples, this.#options.sampleRate);
  }

  /** Frees the decoder. */
  close(): void {}
}
