import { AudioFormatError } from "../../src/audio/audio-format-error.ts";
import { decodeAlaw, decodeMulaw } from "../../src/audio/samples/g711-companding.ts";
import { concatPcm, pcmToBytes } from "../../src/audio/samples/pcm.ts";
import { PcmByteStream } from "../../src/audio/samples/pcm-byte-stream.ts";
import { CodedAudioWatch } from "../../src/audio/sniffing/coded-audio-watch.ts";
import { NoiseWatch } from "../../src/audio/sniffing/noise-watch.ts";
import { type ServedFormat, servedFormat } from "../../src/audio/sniffing/served-format.ts";
import { WavDecoder } from "../../src/audio/wav/wav.ts";
import { concatBytes } from "../../src/base/concat-bytes.ts";
import type { Mp3Stream } from "../../src/ports/audio-decoder.ts";
import type { PcmChunk } from "../../src/ports/media.ts";

/** The range of plausible sample rates, Hz. */
const MIN_RATE = 4000;
const MAX_RATE = 192_000;
const G711_RATE = 8000;
/** Size of the pieces in which an MP3 is decoded, bytes. */
const MP3_PIECE_BYTES = 4096;

/** Maximum number of bytes (such as a line break) that may follow a WAV. */
const MAX_STRAY_BYTES = 4;

/**
 * Number of samples at the start of a WAV that are inspected as bytes: enough for two MPEG frames or for detecting
 * text.
 */
const OPENING_SAMPLES = 1500;

/** Content types of samples that cannot be recognised from the bytes. */
const G711_TYPES = /^audio\/(?:basic|pcmu|x-mulaw|mulaw|pcma|x-alaw|alaw)$/;
/** Content types whose bytes are never samples. */
const OTHER_TYPES = /^(text\/|application\/(json|problem\+json|xml))|^audio\/(mpeg|mp3|ogg|opus|aac|flac|mp4|webm)$/;

/** Options of {@link SpokenBody}. */
export interface SpokenBodyOptions {
  readonly contentType: string | null;
  /** Sample rate if neither the content type nor a header states one, Hz. */
  readonly sampleRate: number;
  /** Decodes MP3; without it, MP3 is refused. */
  readonly mp3Stream?: (() => Promise<Mp3Stream>) | undefined;
}

/** The sample rate in a content type such as `audio/pcm; rate=16000`, Hz; undefined if it names none. */
export function rateOfContentType(contentType: string | null): number | undefined {
  const rate = Number(/;\s*rate\s*=\s*"?(\d{4,6})"?/i.exec(contentType ?? "")?.[1]);
  return rate >= MIN_RATE && rate <= MAX_RATE ? rate : undefined;
}

/** Decodes the bytes of one format; `finish` returns the samples that have been held back. */
interface BodyDecoder {
  push(bytes: Uint8Array): readonly PcmChunk[];
  finish?(): readonly PcmChunk[];
  close?(): void;
}

/**
 * Turns the bytes from a speech server into samples as they arrive, in pieces of any size.
 *
 * The bytes determine the format, regardless of the request and the content type: WAV and MP3 are decoded at their own
 * rate; text, other files and noise are refused by name. Anything else is 16-bit little-endian samples of one channel.
 */
export class SpokenBody {
  readonly #options: SpokenBodyOptions;
  #opening = new Uint8Array(0);
  #decoder: BodyDecoder | undefined;

  constructor(options: SpokenBodyOptions) {
    this.#options = options;
  }

  /**
   * Decodes the next bytes and returns the samples that they complete.
   * @throws {AudioFormatError | AudioUnsupported} naming the actual content
   */
  async push(bytes: Uint8Array): Promise<readonly PcmChunk[]> {
    if (this.#decoder !== undefined) return this.#decoder.push(bytes);
    this.#opening = concatBytes([this.#opening, bytes]);
    return this.#open(false);
  }

  /** Marks the end of the bytes and returns the last samples. Throws `AudioFormatError` if a WAV has no audio. */
  async finish(): Promise<readonly PcmChunk[]> {
    const last = this.#decoder || this.#opening.length === 0 ? [] : await this.#open(true);
    return [...last, ...(this.#decoder?.finish?.() ?? [])];
  }

  close(): void {
    this.#decoder?.close?.();
  }

  async #open(isComplete: boolean): Promise<readonly PcmChunk[]> {
    const format = servedFormat(this.#opening, isComplete);
    if (format === undefined) return [];
    this.#decoder = await this.#decoderOf(format);
    return this.#decoder.push(this.#opening);
  }

  async #decoderOf(format: ServedFormat): Promise<BodyDecoder> {
    const { contentType, sampleRate, mp3Stream } = this.#options;
    if (format === "wav") return wavDecoder();
    if (format === "mp3") {
      if (mp3Stream === undefined) throw new AudioFormatError("unsupported", "it sent MP3, instead of samples");
      return mp3Decoder(await mp3Stream());
    }
    const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
    if (OTHER_TYPES.test(type)) throw new AudioFormatError("unsupported", `it sent ${type} instead of samples`);
    const rate = rateOfContentType(contentType);
    if (!G711_TYPES.test(type)) return sampleDecoder(rate ?? sampleRate);
    const decode = /alaw|pcma/.test(type) ? decodeAlaw : decodeMulaw;
    return { push: (bytes) => [{ sampleRate: rate ?? G711_RATE, samples: decode(bytes) }] };
  }
}

/** Checks samples before they are played: a WAV header may precede anything. */
class SampleCheck {
  readonly #noise = new NoiseWatch();
  #opening: Int16Array | undefined = new Int16Array(0);

  /** @throws {AudioFormatError} the audio is not samples */
  check(samples: Int16Array): void {
    if (this.#opening !== undefined) {
      const opening = concatPcm([this.#opening, samples]);
      const format = servedFormat(pcmToBytes(opening.subarray(0, OPENING_SAMPLES)), false);
      this.#opening = format === undefined && opening.length < OPENING_SAMPLES ? opening : undefined;
      if (format === "mp3") throw new AudioFormatError("malformed", "it sent MP3 among samples");
    }
    if (this.#noise.push(samples))
      throw new AudioFormatError(
        "not_audio",
        "it sent noise: compressed data, or samples that are not 16-bit little-endian",
      );
  }
}

function wavDecoder(): BodyDecoder {
  const wav = new WavDecoder();
  const check = new SampleCheck();
  const watch = new CodedAudioWatch();
  const checkAll = (chunks: readonly PcmChunk[]): readonly PcmChunk[] => {
    for (const { samples } of chunks) check.check(samples);
    return chunks;
  };
  return {
    push(bytes) {
      refuseCodedAudio(watch.push(bytes));
      return checkAll(wav.push(bytes));
    },
    finish() {
      const last = checkAll(wav.finish());
      const ignoredParts = wav.bytes.ignored.filter(({ reason }) => reason !== "incomplete");
      const bytes = ignoredParts.reduce((sum, { bytes }) => sum + bytes, 0);
      if (bytes > MAX_STRAY_BYTES)
        throw new AudioFormatError("malformed", `it sent ${bytes} bytes inside a WAV that are not audio`);
      return last;
    },
  };
}

/** @param name name of the compressed audio found among samples */
function refuseCodedAudio(name: string | undefined): void {
  if (name !== undefined) throw new AudioFormatError("malformed", `it sent ${name} among samples`);
}

function sampleDecoder(sampleRate: number): BodyDecoder {
  const pcm = new PcmByteStream();
  const check = new SampleCheck();
  const watch = new CodedAudioWatch();
  return {
    push(bytes) {
      refuseCodedAudio(watch.push(bytes));
      const samples = pcm.push(bytes);
      check.check(samples);
      return samples.length === 0 ? [] : [{ sampleRate, samples }];
    },
  };
}

function mp3Decoder(stream: Mp3Stream): BodyDecoder {
  return {
    push(bytes) {
      const chunks: PcmChunk[] = [];
      for (let offset = 0; offset < bytes.length; offset += MP3_PIECE_BYTES)
        chunks.push(...stream.push(bytes.subarray(offset, offset + MP3_PIECE_BYTES)));
      return chunks;
    },
    close: () => stream.close(),
  };
}
