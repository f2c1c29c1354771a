import { ByteAccount } from "../../src/audio/byte-account.ts";
import { EncoderPadding } from "../../src/audio/mp3/encoder-padding.ts";
import type { Mp3Info } from "../../src/audio/mp3/mp3-info.ts";
import { type Mp3Part, Mp3Splitter, type Mp3SplitterOptions } from "../../src/audio/mp3/mp3-splitter.ts";
import type { MpegHeader } from "../../src/audio/mp3/mpeg-header.ts";
import { concatBytes } from "../../src/base/concat-bytes.ts";
import { Mpg123 } from "./mpg123.ts";

/** Number of frames that are decoded together. */
const BATCH_FRAMES = 16;

/** Decoded audio of one sample rate. */
export interface Mp3Audio {
  /** Samples of the left and right channels, -1 to 1. */
  readonly channels: readonly Float32Array[];
  /** Sample rate, Hz. */
  readonly sampleRate: number;
}

/**
 * Decodes concatenated MP3s as they arrive. Leaves out tags, encoder padding and broken frames, and splits the audio
 * wherever the sample rate changes. Accounts for every byte.
 */
export class Mp3Decoding {
  readonly account: ByteAccount = new ByteAccount();
  readonly #decoder: Mpg123;
  readonly #splitter: Mp3Splitter;
  #firstHeader: MpegHeader | undefined;
  /** Frames waiting to be decoded together. */
  #batch: Uint8Array[] = [];
  #batchHeader: MpegHeader | undefined;
  #padding = new EncoderPadding(undefined, 0);
  #info: Mp3Info | undefined;
  /** Number of frames since the info. */
  #frameCount = 0;
  #isCutOff = false;
  #faultCount = 0;

  private constructor(decoder: Mpg123, options: Mp3SplitterOptions) {
    this.#decoder = decoder;
    this.#splitter = new Mp3Splitter(options);
  }

  static async open(options: Mp3SplitterOptions = {}): Promise<Mp3Decoding> {
    return new Mp3Decoding(await Mpg123.open(), options);
  }

  /** The header of the first frame. */
  get firstHeader(): MpegHeader | undefined {
    return this.#firstHeader;
  }

  /** Number of broken frames. */
  get faults(): number {
    return this.#faultCount;
  }

  /** True if frames are missing; known after {@link finish}. */
  get truncated(): boolean {
    return this.#isCutOff;
  }

  push(bytes: Uint8Array): Mp3Audio[] {
    return this.#decode(this.#splitter.push(bytes));
  }

  finish(): Mp3Audio[] {
    const audio = this.#decode(this.#splitter.finish());
    this.#endFile();
    return audio;
  }

  close(): void {
    this.#decoder.close();
  }

  #decode(parts: readonly Mp3Part[]): Mp3Audio[] {
    const audio: Mp3Audio[] = [];
    for (const part of parts) {
      if (part.kind === "frame") this.#addFrame(part.bytes, part.header, audio);
      else if (part.kind === "info") this.#beginFile(part.bytes, part.header, part.info, audio);
      else if (part.kind === "tag") this.account.addHeader(part.length);
      else if (part.kind === "unknown") this.account.addIgnored("unknown_bytes", part.length);
      else {
        this.account.addIgnored("incomplete", part.length);
        this.#isCutOff = true;
      }
    }
    this.#decodeBatch(audio);
    return audio;
  }

  #addFrame(bytes: Uint8Array, header: MpegHeader, audio: Mp3Audio[]): void {
    const isNewRate = this.#batchHeader !== undefined && this.#batchHeader.sampleRate !== header.sampleRate;
    if (isNewRate || this.#batch.length === BATCH_FRAMES) this.#decodeBatch(audio);
    if (isNewRate && this.#frameCount > 0) this.#startFile(undefined, header);
    this.#firstHeader ??= header;
    this.#batchHeader = header;
    this.#frameCount++;
    this.#batch.push(bytes);
  }

  #beginFile(bytes: Uint8Array, header: MpegHeader, info: Mp3Info, audio: Mp3Audio[]): void {
    this.#decodeBatch(audio);
    this.#startFile(info, header);
    this.#firstHeader ??= header;
    this.#batchHeader = header;
    this.account.addHeader(bytes.length);
  }

  #startFile(info: Mp3Info | undefined, header: MpegHeader): void {
    this.#endFile();
    this.#info = info;
    this.#frameCount = 0;
    this.#padding = new EncoderPadding(info, header.samples);
  }

  /** Ends the current file. An encoder may count one frame more than it writes. */
  #endFile(): void {
    if (this.#info?.frames !== undefined && this.#frameCount < this.#info.frames - 1) this.#isCutOff = true;
  }

  #decodeBatch(audio: Mp3Audio[]): void {
    const header = this.#batchHeader;
    const batch = this.#batch;
    if (header === undefined || batch.length === 0) return;
    this.#batch = [];
    const bytes = concatBytes(batch);
    const { channels, faults } = this.#decoder.decode(bytes);
    this.#faultCount += faults;
    const decodedFrames = Math.min(batch.length, (channels[0]?.length ?? 0) / header.samples);
    const playedBytes = Math.round((bytes.length * decodedFrames) / batch.length);
    this.account.addPlayed(playedBytes);
    this.account.addIgnored("broken_frames", bytes.length - playedBytes);
    if (decodedFrames === 0) return;
    const audibleChannels = this.#padding.cut(channels);
    if (audibleChannels[0]!.length > 0) audio.push({ channels: audibleChannels, sampleRate: header.sampleRate });
  }
}
