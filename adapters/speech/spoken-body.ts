import { PcmByteStream } from "../../src/audio/pcm-byte-stream.ts";
import { WavDecoder } from "../../src/audio/wav.ts";
import type { PcmChunk } from "../../src/ports/media.ts";

/** The range of plausible sample rates, Hz. */
const MIN_RATE = 4000;
const MAX_RATE = 192_000;
/** Enough bytes to tell a WAV header from samples. */
const OPENING_BYTES = 4;

/** The rate in a content type, such as `audio/pcm; rate=16000`, Hz; undefined if it names none. */
export function rateOfContentType(contentType: string | null): number | undefined {
  const rate = Number(/;\s*rate\s*=\s*"?(\d{4,6})"?/i.exec(contentType ?? "")?.[1]);
  return rate >= MIN_RATE && rate <= MAX_RATE ? rate : undefined;
}

/**
 * Turns the bytes of a speech server into samples as they arrive, in pieces of any size.
 *
 * Bytes that begin with RIFF are WAV, whatever was requested, and their header names the rate; others are 16-bit
 * little-endian samples of one channel at `sampleRate` (Hz).
 */
export class SpokenBody {
  readonly #sampleRate: number;
  #opening = new Uint8Array(0);
  #pcm: PcmByteStream | undefined;
  #wav: WavDecoder | undefined;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  /** Takes the next bytes and returns the samples that they complete. Throws `AudioFormatError` for a broken WAV. */
  push(bytes: Uint8Array): PcmChunk[] {
    let fresh = bytes;
    if (!this.#pcm && !this.#wav) {
      const opening = new Uint8Array(this.#opening.length + bytes.length);
      opening.set(this.#opening);
      opening.set(bytes, this.#opening.length);
      this.#opening = opening;
      if (opening.length < OPENING_BYTES) return [];
      if (String.fromCharCode(...opening.subarray(0, OPENING_BYTES)) === "RIFF") this.#wav = new WavDecoder();
      else this.#pcm = new PcmByteStream();
      fresh = opening;
    }
    if (this.#wav !== undefined) return this.#wav.push(fresh);
    const samples = this.#pcm?.push(fresh) ?? new Int16Array(0);
    return samples.length === 0 ? [] : [{ sampleRate: this.#sampleRate, samples }];
  }

  /** Marks the end of the bytes and returns the last samples. Throws `AudioFormatError` if a WAV has no audio. */
  finish(): PcmChunk[] {
    return this.#wav?.finish() ?? [];
  }
}
