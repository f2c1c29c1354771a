import { channelLayout } from "../../src/audio/channel-layout.ts";
import { tagsAtEnd } from "../../src/audio/file-tags.ts";
import { MonoMix } from "../../src/audio/mono-mix.ts";
import type { FileBytes } from "../../src/ports/audio-decoder.ts";
import type { DecodedPiece, FileEnd, PieceDecoder } from "./audio-pieces.ts";
import { type Mp3Audio, Mp3Decoding } from "./mp3-decoding.ts";

/** Full scale of 16-bit samples. */
const FULL_SCALE = 32_768;

/** The bytes of a file that are an MP3. */
export interface Mp3Range {
  readonly from: number;
  readonly to: number;
}

/** Decodes the MP3s of one file piece by piece, without the tags after them. */
export class Mp3Decoder implements PieceDecoder {
  readonly #decoding: Mp3Decoding;
  readonly #range: Mp3Range;
  readonly #fileBytes: number;
  #mix: MonoMix | undefined;
  #mixRate = 0;
  /** Position in the file. */
  #at = 0;

  private constructor(decoding: Mp3Decoding, range: Mp3Range, fileBytes: number) {
    this.#decoding = decoding;
    this.#range = range;
    this.#fileBytes = fileBytes;
  }

  /** @param range default: the whole file */
  static async open(file: Uint8Array, range: Mp3Range = { from: 0, to: file.length }): Promise<Mp3Decoder> {
    const to = tagsAtEnd(file.subarray(0, range.to), range.from);
    return new Mp3Decoder(await Mp3Decoding.open({ size: to - range.from }), { from: range.from, to }, file.length);
  }

  push(bytes: Uint8Array): DecodedPiece[] {
    const from = Math.max(0, this.#range.from - this.#at);
    const to = Math.max(from, this.#range.to - this.#at);
    this.#at += bytes.length;
    return this.#mixed(this.#decoding.push(bytes.subarray(from, to)));
  }

  finish(): FileEnd {
    const pieces = this.#mixed(this.#decoding.finish());
    this.#flush(pieces);
    const { first, truncated } = this.#decoding;
    if (first === undefined) throw new Error("the MP3 file has no audio frames that follow each other");
    const { sampleRate, channels } = first;
    return { pieces, facts: { format: "mp3", sampleRate, channels, truncated, bytes: this.#bytes() } };
  }

  close(): void {
    this.#decoding.close();
  }

  #mixed(audio: readonly Mp3Audio[]): DecodedPiece[] {
    const pieces: DecodedPiece[] = [];
    for (const { channels, sampleRate } of audio) {
      if (this.#mix === undefined || sampleRate !== this.#mixRate) {
        this.#flush(pieces);
        this.#mix = new MonoMix(channelLayout(2), sampleRate);
        this.#mixRate = sampleRate;
      }
      this.#add(this.#mix.push(interleaved(channels)), pieces);
    }
    return pieces;
  }

  #flush(pieces: DecodedPiece[]): void {
    if (this.#mix !== undefined) this.#add(this.#mix.flush(), pieces);
  }

  #add(samples: Int16Array, pieces: DecodedPiece[]): void {
    if (samples.length > 0) pieces.push({ samples, sampleRate: this.#mixRate });
  }

  #bytes(): FileBytes {
    const { header, played, ignored } = this.#decoding.account.total;
    return { header: header + this.#fileBytes - (this.#range.to - this.#range.from), played, ignored };
  }
}

function interleaved([left, right = left]: readonly Float32Array[]): Float32Array {
  const values = new Float32Array(2 * (left?.length ?? 0));
  for (let i = 0; i < values.length / 2; i++) {
    values[2 * i] = left![i]! * FULL_SCALE;
    values[2 * i + 1] = right![i]! * FULL_SCALE;
  }
  return values;
}
