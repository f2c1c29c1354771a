import { audioStart } from "../../src/audio/sniffing/audio-start.ts";
import { tagsAtEnd } from "../../src/audio/sniffing/file-tags.ts";
import type { FileBytes } from "../../src/ports/audio-decoder.ts";
import { Mp3Decoding } from "./mp3-decoding.ts";
import { Mp3Mix } from "./mp3-mix.ts";
import type { DecodedPiece, FileEnd, PieceDecoder } from "./piece-decoder.ts";

/** The byte range of an MP3 in a file. */
export interface Mp3Range {
  readonly from: number;
  readonly to: number;
}

/** Decodes the MP3s of one file piece by piece, without the tags after them. */
export class Mp3Decoder implements PieceDecoder {
  readonly #decoding: Mp3Decoding;
  readonly #range: Mp3Range;
  readonly #fileBytes: number;
  readonly #mix = new Mp3Mix();
  /** Position in the file. */
  #offset = 0;

  private constructor(decoding: Mp3Decoding, range: Mp3Range, fileBytes: number) {
    this.#decoding = decoding;
    this.#range = range;
    this.#fileBytes = fileBytes;
  }

  /** @param range default: the whole file */
  static async open(file: Uint8Array, range: Mp3Range = { from: 0, to: file.length }): Promise<Mp3Decoder> {
    const from = range.from + audioStart(file.subarray(range.from, range.to));
    const to = tagsAtEnd(file.subarray(0, range.to), from);
    return new Mp3Decoder(await Mp3Decoding.open({ size: to - from }), { from, to }, file.length);
  }

  push(bytes: Uint8Array): DecodedPiece[] {
    const from = Math.max(0, this.#range.from - this.#offset);
    const to = Math.max(from, this.#range.to - this.#offset);
    this.#offset += bytes.length;
    return this.#mix.push(this.#decoding.push(bytes.subarray(from, to)));
  }

  finish(): FileEnd {
    const pieces = [...this.#mix.push(this.#decoding.finish()), ...this.#mix.flush()];
    const { firstHeader, truncated } = this.#decoding;
    if (firstHeader === undefined) throw new Error("the MP3 file has no consecutive audio frames");
    const { sampleRate, channels } = firstHeader;
    return { pieces, facts: { format: "mp3", sampleRate, channels, truncated, bytes: this.#bytes() } };
  }

  close(): void {
    this.#decoding.close();
  }

  #bytes(): FileBytes {
    const { header, played, ignored } = this.#decoding.account.total;
    return { header: header + this.#fileBytes - (this.#range.to - this.#range.from), played, ignored };
  }
}
