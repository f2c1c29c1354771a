import { concatBytes } from "../../base/concat-bytes.ts";
import type { FileBytes, IgnoredReason } from "../../ports/audio-decoder.ts";
import type { DecodedAudio, PcmChunk } from "../../ports/media.ts";
import { AudioFormatError } from "../audio-format-error.ts";
import { ByteAccount } from "../byte-account.ts";
import { conversionOf } from "../conversion.ts";
import { concatPcm } from "../samples/pcm.ts";
import { TAG_HEAD_BYTES, tagAt } from "../sniffing/file-tags.ts";
import { foreignName } from "../sniffing/foreign-name.ts";
import { PROOF_BYTES } from "../sniffing/named-file.ts";
import {
  CHUNK_HEAD_BYTES,
  isChunkIdAt,
  isKnownChunkAt,
  isWaveAt,
  partialWaveBytes,
  RIFF_BYTES,
  WAVE_BYTES,
  waveIn,
} from "./wav-chunks.ts";
import { parseWavFormat, type WavFormat } from "./wav-format.ts";
import { WavLengths } from "./wav-lengths.ts";
import { WavSamples } from "./wav-samples.ts";

const MAX_FMT_BYTES = 1024;
/**
 * Size of a ds64 chunk, bytes: RIFF size, data size, sample count (64 bits each) and the length of a table that we skip
 * (EBU Tech 3306).
 */
const DS64_BYTES = 28;

type Part = "riff" | "chunk" | "ds64" | "fmt" | "skip" | "data" | "zeros" | "unknown";

/** Options of {@link WavDecoder}. */
export interface WavDecoderOptions {
  /** Length of the whole file, bytes, which exposes a chunk that declares more. Omit it for a stream. */
  readonly size?: number | undefined;
  /**
   * Returns the position of the next content that is not WAV, where a data chunk of unknown length ends. Default: there
   * is none.
   */
  readonly nextForeign?: ((from: number) => number) | undefined;
}

/**
 * Decodes WAV (RIFF, RF64) piece by piece to 16-bit samples of one channel, at the rate of the file.
 *
 * Accepts PCM of 8 to 32 bits, float of 32 and 64 bits, A-law and mu-law, 1 to 8 channels. Joined files, several data
 * chunks and headers repeated between samples are all decoded: each chunk of samples has the rate that its header
 * declares. Declared lengths are not trusted: a data chunk whose length is a placeholder ends with the file, or at the
 * next header. The samples do not depend on how the file is split into pieces. Do not use the decoder after an error.
 */
export class WavDecoder {
  readonly #size: number;
  readonly #nextForeignAt: (from: number) => number;
  /** The latest result of `nextForeign`. */
  #foreignAt = -1;
  readonly #account = new ByteAccount();
  #part: Part = "riff";
  /** Number of remaining bytes of the current part; Infinity for `data` of unknown length. */
  #remainingBytes = 0;
  /** True after a chunk of odd length: a pad byte should follow. */
  #isPadDue = false;
  #pendingBytes = new Uint8Array(0);
  #receivedBytes = 0;
  #hasData = false;
  #hasSamples = false;
  #firstFormat: WavFormat | undefined;
  #format: WavFormat | undefined;
  #samples: WavSamples | undefined;
  readonly #lengths = new WavLengths();
  #isFirstChunk = true;
  #isTruncated = false;
  #unknownReason: IgnoredReason = "unknown_bytes";

  constructor({ size = Infinity, nextForeign = () => Infinity }: WavDecoderOptions = {}) {
    this.#size = size;
    this.#nextForeignAt = nextForeign;
  }

  /** The first `fmt ` chunk, as soon as it has been read. */
  get format(): WavFormat | undefined {
    return this.#firstFormat;
  }

  /** True if the last file is truncated; known after {@link finish}. */
  get truncated(): boolean {
    return this.#isTruncated;
  }

  /** The bytes that were pushed, by their use; known after {@link finish}. */
  get bytes(): FileBytes {
    return this.#account.total;
  }

  /** True if the audio has ended and these bytes start no file, chunk or tag. */
  isBetweenFiles(bytes: Uint8Array): boolean {
    if (!this.#hasData || this.#pendingBytes.length > 0 || (this.#part !== "chunk" && this.#part !== "zeros"))
      return false;
    const isNext = isWaveAt(bytes, 0) || isKnownChunkAt(bytes, 0) || tagAt(bytes, 0) > 0;
    return !isNext && !(this.#isPadDue && isKnownChunkAt(bytes, 1));
  }

  /** Adds the next bytes and returns the samples they complete. Throws {@link AudioFormatError}. */
  push(bytes: Uint8Array): PcmChunk[] {
    return this.#run(bytes, false);
  }

  /** Ends the audio and returns the last samples. Throws {@link AudioFormatError} if there was no data chunk. */
  finish(): PcmChunk[] {
    const chunks = this.#run(new Uint8Array(0), true);
    if (this.#receivedBytes === 0) throw new AudioFormatError("not_audio", "the audio is empty");
    if (!this.#hasData) throw malformed(`ends after ${this.#receivedBytes} bytes, before any audio data`);
    this.#flush(chunks);
    this.#account.addHeader(this.#pendingBytes.length);
    this.#isTruncated = this.#part === "data" && this.#lengths.isCutOff(this.#receivedBytes);
    return chunks;
  }

  #run(input: Uint8Array, isLast: boolean): PcmChunk[] {
    this.#receivedBytes += input.length;
    const bytes = this.#pendingBytes.length === 0 ? input : concatBytes([this.#pendingBytes, input]);
    const chunks: PcmChunk[] = [];
    let at = 0;
    for (;;) {
      const usedBytes = this.#step(bytes.subarray(at), isLast, chunks);
      if (usedBytes === undefined) break;
      at += usedBytes;
    }
    this.#pendingBytes = bytes.slice(at);
    return chunks;
  }

  /** Reads the start of the bytes and returns how many were used; undefined if more bytes are needed. */
  #step(bytes: Uint8Array, isLast: boolean, chunks: PcmChunk[]): number | undefined {
    if (this.#part === "data") return this.#readData(bytes, isLast, chunks);
    if (this.#part === "unknown") return this.#skipUnknown(bytes, isLast);
    if (this.#part === "zeros") return this.#skipZeros(bytes);
    if (this.#part === "skip") return this.#skip(bytes);
    if (this.#part === "chunk") return this.#readChunk(bytes, isLast);
    const length = this.#part === "riff" ? RIFF_BYTES : this.#remainingBytes;
    if (bytes.length < length) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    this.#account.addHeader(length);
    if (this.#part === "riff") this.#readRiff(bytes, view);
    else if (this.#part === "ds64") {
      this.#lengths.readDs64(view);
      this.#part = "chunk";
    } else this.#readFmt(view);
    return length;
  }

  #readRiff(bytes: Uint8Array, view: DataView): void {
    if (!isWaveAt(bytes, 0)) {
      if (String.fromCharCode(...bytes.subarray(0, 4)) === "RIFX")
        throw new AudioFormatError("unsupported", "the WAV file is big-endian (RIFX), which is not supported");
      throw new AudioFormatError("not_audio", "the audio does not begin with a RIFF or RF64 header of type WAVE");
    }
    this.#lengths.beginFile(this.#account.sum - RIFF_BYTES, view.getUint32(4, true));
    this.#samples = undefined;
    this.#isPadDue = false;
    this.#isFirstChunk = true;
    this.#part = "chunk";
  }

  #readChunk(bytes: Uint8Array, isLast: boolean): number | undefined {
    if (this.#isPadDue) return this.#skipPad(bytes, isLast);
    const headBytes = isKnownChunkAt(bytes, 0) ? CHUNK_HEAD_BYTES : TAG_HEAD_BYTES;
    if (bytes.length < headBytes && !isLast) return undefined;
    if (bytes.length === 0) return undefined;
    if (isWaveAt(bytes, 0)) return this.#begin("riff", 0, 0);
    if (this.#lengths.isDataEnd(this.#account.sum) && this.#dataContinues(bytes)) return this.#resumeData();
    if (bytes[0] === 0) return this.#begin("zeros", 0, 0);
    const tag = tagAt(bytes, 0);
    if (tag > 0) return this.#begin("skip", tag, 0);
    if (!isChunkIdAt(bytes, 0) || bytes.length < CHUNK_HEAD_BYTES) return this.#begin("unknown", 0, 0);
    return this.#readChunkHead(bytes);
  }

  #readChunkHead(bytes: Uint8Array): number {
    const id = String.fromCharCode(...bytes.subarray(0, 4));
    const size = new DataView(bytes.buffer, bytes.byteOffset, CHUNK_HEAD_BYTES).getUint32(4, true);
    this.#isPadDue = size % 2 === 1;
    if (id === "data") return this.#beginData(size);
    if (id === "fmt ") {
      if (size < 16 || size > MAX_FMT_BYTES)
        return this.#ignoreUnreadable(malformed(`has a fmt chunk of ${size} bytes`));
      return this.#begin("fmt", size, CHUNK_HEAD_BYTES);
    }
    if (id === "ds64" && size >= DS64_BYTES) return this.#begin("ds64", size, CHUNK_HEAD_BYTES);
    const isBeyondEnd = this.#account.sum + CHUNK_HEAD_BYTES + size > this.#size;
    if (isBeyondEnd && this.#hasData && !isKnownChunkAt(bytes, 0)) return this.#begin("unknown", 0, 0);
    return this.#begin("skip", size, CHUNK_HEAD_BYTES);
  }

  /** Skips the pad byte, which some writers leave out. */
  #skipPad(bytes: Uint8Array, isLast: boolean): number | undefined {
    if (bytes.length <= TAG_HEAD_BYTES && !isLast) return undefined;
    this.#isPadDue = false;
    const hasPad = bytes.length > 0 && (isKnownChunkAt(bytes, 1) || !(isKnownChunkAt(bytes, 0) || isWaveAt(bytes, 0)));
    const isTag = hasPad && !isKnownChunkAt(bytes, 1) && bytes[0] !== 0 && tagAt(bytes, 0) > 0;
    if (hasPad && !isTag && this.#lengths.isDataEnd(this.#account.sum)) this.#lengths.endData(this.#account.sum + 1);
    return this.#begin("chunk", 0, hasPad && !isTag ? 1 : 0);
  }

  /**
   * True if samples follow a data chunk whose declared length is too small: the container continues, but no other chunk
   * starts.
   */
  #dataContinues(bytes: Uint8Array): boolean {
    const remainingBytes = this.#lengths.continuation(this.#account.sum);
    if (this.#samples === undefined || remainingBytes === 0 || tagAt(bytes, 0) > 0) return false;
    if (isKnownChunkAt(bytes, 0)) return false;
    if (!isChunkIdAt(bytes, 0) || bytes.length < CHUNK_HEAD_BYTES) return true;
    const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
    return CHUNK_HEAD_BYTES + size > remainingBytes;
  }

  #resumeData(): number {
    const { frameBytes } = this.#samples!;
    const partialBytes = this.#lengths.offsetInData(this.#account.sum) % frameBytes;
    const skippedBytes = partialBytes === 0 ? 0 : frameBytes - partialBytes;
    this.#account.addIgnored("incomplete", skippedBytes);
    this.#begin("data", this.#lengths.remaining(this.#account.sum), 0);
    return skippedBytes;
  }

  #readFmt(view: DataView): void {
    this.#part = "chunk";
    try {
      this.#format = parseWavFormat(view);
      this.#firstFormat ??= this.#format;
      this.#samples = undefined;
    } catch (fault) {
      if (!(fault instanceof AudioFormatError)) throw fault;
      this.#ignoreUnreadable(fault);
    }
  }

  #beginData(declaredBytes: number): number {
    if (this.#format === undefined) return this.#ignoreUnreadable(malformed("has its data chunk before its fmt chunk"));
    this.#samples = new WavSamples(this.#format);
    this.#hasData = true;
    // Only the first chunk may have been written before its length was known.
    const isEmpty = declaredBytes === 0 && !this.#isFirstChunk;
    this.#isFirstChunk = false;
    if (isEmpty) return this.#begin("skip", 0, CHUNK_HEAD_BYTES);
    const length = this.#lengths.beginData(this.#account.sum + CHUNK_HEAD_BYTES, declaredBytes);
    this.#isPadDue = this.#lengths.isOdd;
    return this.#begin("data", length, CHUNK_HEAD_BYTES);
  }

  #readData(bytes: Uint8Array, isLast: boolean, chunks: PcmChunk[]): number | undefined {
    const samples = this.#samples!;
    // Streams are checked before they arrive here.
    if (this.#lengths.isEmpty && this.#size !== Infinity) {
      if (bytes.length < PROOF_BYTES && bytes.length < this.#remainingBytes && !isLast) return undefined;
      const name = foreignName(bytes);
      if (name !== undefined && name !== "WAV") return this.#ignoreUnreadable(notSamples(name));
    }
    const foreignEnd = this.#remainingBytes === Infinity ? this.#foreignAt - this.#account.sum : Infinity;
    const next = waveIn(
      bytes.subarray(0, this.#remainingBytes === Infinity ? undefined : this.#remainingBytes + WAVE_BYTES),
    );
    const end = Math.min(
      this.#remainingBytes,
      foreignEnd,
      next ?? bytes.length - (isLast ? 0 : partialWaveBytes(bytes)),
    );
    const isComplete = isLast || end === this.#remainingBytes || end === next || end === foreignEnd;
    const usedBytes = samples.decodable(bytes.subarray(0, end), isComplete);
    if (usedBytes > 0) {
      this.#emit(samples.decode(bytes.subarray(0, usedBytes)), chunks);
      this.#account.addPlayed(usedBytes);
      this.#hasSamples = true;
      this.#lengths.receive(usedBytes);
      this.#remainingBytes -= usedBytes;
      return usedBytes;
    }
    if (!isComplete || (isLast && bytes.length === 0 && this.#remainingBytes > 0)) return undefined;
    this.#lengths.receive(end);
    this.#account.addIgnored("incomplete", end);
    if (isLast && end === bytes.length && end < this.#remainingBytes) {
      this.#remainingBytes -= end;
      return end;
    }
    this.#flush(chunks);
    this.#lengths.endData(this.#account.sum);
    return this.#begin(end === next ? "riff" : end === foreignEnd ? "unknown" : "chunk", 0, 0) + end;
  }

  #flush(chunks: PcmChunk[]): void {
    if (this.#samples !== undefined) this.#emit(this.#samples.flush(), chunks);
  }

  #emit(samples: Int16Array, chunks: PcmChunk[]): void {
    if (samples.length > 0) chunks.push({ samples, sampleRate: this.#samples!.format.sampleRate });
  }

  #skip(bytes: Uint8Array): number | undefined {
    const usedBytes = Math.min(this.#remainingBytes, bytes.length);
    if (usedBytes === 0 && this.#remainingBytes > 0) return undefined;
    this.#account.addHeader(usedBytes);
    this.#remainingBytes -= usedBytes;
    if (this.#remainingBytes === 0) this.#part = "chunk";
    return usedBytes;
  }

  #skipZeros(bytes: Uint8Array): number | undefined {
    const end = bytes.findIndex((byte) => byte !== 0);
    const usedBytes = end === -1 ? bytes.length : end;
    this.#account.addHeader(usedBytes);
    if (end !== -1) this.#part = "chunk";
    return usedBytes === 0 && end === -1 ? undefined : usedBytes;
  }

  #skipUnknown(bytes: Uint8Array, isLast: boolean): number | undefined {
    const next = waveIn(bytes);
    const usedBytes = next ?? bytes.length - (isLast ? 0 : partialWaveBytes(bytes));
    this.#account.addIgnored(this.#unknownReason, usedBytes);
    if (next !== undefined) return this.#begin("riff", 0, 0) + usedBytes;
    return usedBytes === 0 ? undefined : usedBytes;
  }

  /** Starts a part of `length` bytes after `head` bytes of header, and returns `head`. */
  #begin(part: Part, length: number, head: number): number {
    this.#account.addHeader(head);
    if (part === "unknown") this.#unknownReason = "unknown_bytes";
    // A position that has not been reached stays valid.
    if (length === Infinity && this.#foreignAt < this.#account.sum)
      this.#foreignAt = this.#nextForeignAt(this.#account.sum);
    this.#part = part === "skip" && length === 0 ? "chunk" : part;
    this.#remainingBytes = length;
    return head;
  }

  /** Ignores an unreadable file if there was audio before it. */
  #ignoreUnreadable(fault: AudioFormatError): number {
    if (!this.#hasSamples) throw fault;
    this.#part = "unknown";
    this.#unknownReason = "unreadable_part";
    return 0;
  }
}

/** Decodes a whole WAV file of one rate; see {@link WavDecoder}. Throws {@link AudioFormatError}. */
export function decodeWav(bytes: Uint8Array): DecodedAudio {
  const decoder = new WavDecoder({ size: bytes.length });
  const chunks = [...decoder.push(bytes), ...decoder.finish()];
  const sampleRate = decoder.format?.sampleRate ?? 0;
  if (chunks.some((chunk) => chunk.sampleRate !== sampleRate)) throw malformed("has parts of several sample rates");
  return { sampleRate, samples: concatPcm(chunks.map(({ samples }) => samples)), truncated: decoder.truncated };
}

function notSamples(name: string): AudioFormatError {
  const conversion = conversionOf(name);
  const fix = conversion === undefined ? "check its source" : `remove its WAV header, then ${conversion}`;
  return new AudioFormatError("not_audio", `the WAV file contains ${name} instead of samples: ${fix}`);
}

function malformed(fault: string): AudioFormatError {
  return new AudioFormatError("malformed", `the WAV file ${fault}`);
}
