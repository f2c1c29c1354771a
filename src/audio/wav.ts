import type { DecodedAudio } from "../ports/media.ts";
import { AudioFormatError } from "./audio-format-error.ts";
import { toSample } from "./pcm.ts";
import { parseWavFormat, type WavFormat, type WavSampleReader, wavSampleReader } from "./wav-format.ts";

const UNKNOWN_LENGTH = 0xffff_ffff;
const LARGEST_FMT = 1024;
// RIFF size, data size, sample count (64 bits each) and the length of a table that we skip. EBU Tech 3306.
const DS64_BYTES = 28;

type Part = "riff" | "chunk" | "ds64" | "fmt" | "skip" | "data" | "end";

/**
 * Decodes a WAV file (RIFF, RF64) as it arrives into 16-bit samples of one channel, at the rate of the file.
 *
 * Takes PCM of 8, 16, 24 and 32 bits, float of 32 and 64 bits, A-law and mu-law, 1 to 8 channels, which are averaged.
 * The samples do not depend on how the bytes are cut into pieces, and are never more than the bytes pushed. Do not use
 * the decoder after an error.
 */
export class WavDecoder {
  #part: Part = "riff";
  /** Bytes of the current part still to come; for `data` without a stated length, Infinity. */
  #left = 12;
  #received = 0;
  #longDataBytes = UNKNOWN_LENGTH;
  #tableBytes = 0;
  #format: WavFormat | undefined;
  #reader: WavSampleReader | undefined;
  #truncated = false;
  // Holds a header until it is whole, later a frame that was cut in two.
  readonly #held = new Uint8Array(LARGEST_FMT);
  readonly #heldView = new DataView(this.#held.buffer);
  #heldBytes = 0;

  /** The `fmt ` chunk, as soon as it has been read. */
  get format(): WavFormat | undefined {
    return this.#format;
  }

  /** After {@link finish}: whether the data chunk claimed more bytes than were pushed. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** Takes the next bytes and returns the samples they complete. Throws {@link AudioFormatError}. */
  push(bytes: Uint8Array): Int16Array<ArrayBuffer> {
    let at = 0;
    while (at < bytes.length && this.#part !== "data" && this.#part !== "end") {
      const take = Math.min(this.#left, bytes.length - at);
      if (this.#part !== "skip") {
        this.#held.set(bytes.subarray(at, at + take), this.#heldBytes);
        this.#heldBytes += take;
      }
      at += take;
      this.#left -= take;
      this.#received += take;
      if (this.#left === 0) this.#partComplete();
    }
    if (this.#part !== "data") return new Int16Array(0);
    const take = Math.min(this.#left, bytes.length - at);
    this.#left -= take;
    this.#received += take;
    const samples = this.#decode(bytes.subarray(at, at + take));
    if (this.#left === 0) this.#part = "end";
    return samples;
  }

  /** Ends the file. Throws {@link AudioFormatError} if it had no data chunk. */
  finish(): void {
    if (this.#received === 0) throw new AudioFormatError("not_audio", "the audio is empty");
    if (this.#part !== "data" && this.#part !== "end") {
      throw malformed(`ends after ${this.#received} bytes, before any audio data`);
    }
    this.#truncated = this.#left > 0 && this.#left !== Infinity;
  }

  #partComplete(): void {
    const bytes = this.#heldBytes;
    this.#heldBytes = 0;
    if (this.#part === "riff") this.#readRiff();
    else if (this.#part === "chunk") this.#readChunkHeader();
    else if (this.#part === "ds64") this.#readDs64();
    else if (this.#part === "fmt") this.#readFmt(bytes);
    else this.#expect("chunk", 8);
  }

  #expect(part: Part, bytes: number): void {
    this.#part = bytes === 0 ? "chunk" : part;
    this.#left = bytes === 0 ? 8 : bytes;
  }

  #readRiff(): void {
    const container = this.#fourLetters(0);
    if (container === "RIFX") {
      throw new AudioFormatError("unsupported", "the WAV file is big-endian (RIFX), which is not supported");
    }
    if ((container !== "RIFF" && container !== "RF64") || this.#fourLetters(8) !== "WAVE") {
      throw new AudioFormatError("not_audio", "the audio does not begin with a RIFF or RF64 header of type WAVE");
    }
    this.#expect("chunk", 8);
  }

  #readChunkHeader(): void {
    const id = this.#fourLetters(0);
    const size = this.#heldView.getUint32(4, true);
    const padded = size + (size % 2);
    if (id === "data") this.#beginData(size === UNKNOWN_LENGTH ? this.#longDataBytes : size);
    else if (id === "fmt " && this.#format === undefined) {
      if (size < 16 || size > LARGEST_FMT) throw malformed(`has a fmt chunk of ${size} bytes`);
      this.#expect("fmt", padded);
    } else if (id === "ds64" && size >= DS64_BYTES) {
      this.#tableBytes = padded - DS64_BYTES;
      this.#expect("ds64", DS64_BYTES);
    } else this.#expect("skip", padded);
  }

  #readDs64(): void {
    this.#longDataBytes = this.#heldView.getUint32(8, true) + this.#heldView.getUint32(12, true) * 2 ** 32;
    this.#expect("skip", this.#tableBytes);
  }

  #readFmt(bytes: number): void {
    this.#format = parseWavFormat(new DataView(this.#held.buffer, 0, bytes));
    this.#reader = wavSampleReader(this.#format);
    this.#expect("chunk", 8);
  }

  #beginData(size: number): void {
    if (this.#format === undefined) throw malformed("has its data chunk before its fmt chunk");
    this.#part = "data";
    // Writers to a pipe cannot go back and fill in the length: they leave 0 or all ones.
    this.#left = size === 0 || size === UNKNOWN_LENGTH ? Infinity : size;
  }

  #decode(bytes: Uint8Array): Int16Array<ArrayBuffer> {
    const format = this.#format;
    const reader = this.#reader;
    if (format === undefined || reader === undefined) return new Int16Array(0);
    const frameBytes = (format.channels * format.bitsPerSample) / 8;
    const samples = new Int16Array(Math.floor((this.#heldBytes + bytes.length) / frameBytes));
    let at = 0;
    let written = 0;
    if (this.#heldBytes > 0) {
      at = Math.min(frameBytes - this.#heldBytes, bytes.length);
      this.#held.set(bytes.subarray(0, at), this.#heldBytes);
      this.#heldBytes += at;
      if (this.#heldBytes < frameBytes) return samples;
      samples[written++] = mixFrame(this.#heldView, 0, frameBytes, format.channels, reader);
      this.#heldBytes = 0;
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (; at + frameBytes <= bytes.length; at += frameBytes) {
      samples[written++] = mixFrame(view, at, frameBytes, format.channels, reader);
    }
    this.#held.set(bytes.subarray(at));
    this.#heldBytes = bytes.length - at;
    return samples;
  }

  #fourLetters(offset: number): string {
    return String.fromCharCode(...this.#held.subarray(offset, offset + 4));
  }
}

/** Decodes a whole WAV file; see {@link WavDecoder}. Throws {@link AudioFormatError}. */
export function decodeWav(bytes: Uint8Array): DecodedAudio {
  const decoder = new WavDecoder();
  const samples = decoder.push(bytes);
  decoder.finish();
  return { sampleRate: decoder.format?.sampleRate ?? 0, samples, truncated: decoder.truncated };
}

/** Bytes before the samples of a file that begins with {@link wavHeader}. */
export const WAV_HEADER_BYTES = 44;

/**
 * The header (44 bytes) of a 16-bit WAV file, by default of one channel. Without `samples` (a count) the length is marked
 * as unknown, for streams. Throws a RangeError for more samples than the format can state.
 */
export function wavHeader({ sampleRate, samples, channels = 1 }: WavHeaderOptions): Uint8Array<ArrayBuffer> {
  const blockBytes = 2 * channels;
  const dataBytes = samples === undefined ? UNKNOWN_LENGTH : blockBytes * samples;
  const riffBytes = samples === undefined ? UNKNOWN_LENGTH : dataBytes + 36;
  if (riffBytes > UNKNOWN_LENGTH) throw new RangeError(`a WAV file cannot hold ${samples} samples`);
  const header = new Uint8Array(WAV_HEADER_BYTES);
  const view = new DataView(header.buffer);
  const letters = (at: number, text: string) => {
    for (let i = 0; i < text.length; i++) header[at + i] = text.charCodeAt(i);
  };
  letters(0, "RIFF");
  view.setUint32(4, riffBytes, true);
  letters(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, blockBytes * sampleRate, true);
  view.setUint16(32, blockBytes, true);
  view.setUint16(34, 16, true);
  letters(36, "data");
  view.setUint32(40, dataBytes, true);
  return header;
}

/** Options of {@link wavHeader}. */
export interface WavHeaderOptions {
  /** Samples per second. */
  readonly sampleRate: number;
  /** Number of samples of each channel; omit it for a stream of unknown length. */
  readonly samples?: number | undefined;
  /** Default: 1. */
  readonly channels?: number | undefined;
}

/** The average of the channels of one frame. */
function mixFrame(bytes: DataView, at: number, frameBytes: number, channels: number, read: WavSampleReader): number {
  const sampleBytes = frameBytes / channels;
  let sum = 0;
  for (let offset = at; offset < at + frameBytes; offset += sampleBytes) sum += read(bytes, offset);
  return toSample(sum / channels);
}

function malformed(fault: string): AudioFormatError {
  return new AudioFormatError("malformed", `the WAV file ${fault}`);
}
