import { mp3AmongSamples } from "../../src/audio/mp3/mp3-in-wav.ts";
import { afterZeros, audioStart } from "../../src/audio/sniffing/audio-start.ts";
import { tagsAtEnd } from "../../src/audio/sniffing/file-tags.ts";
import { WavDecoder } from "../../src/audio/wav/wav.ts";
import { waveIn } from "../../src/audio/wav/wav-chunks.ts";
import type { FileBytes } from "../../src/ports/audio-decoder.ts";
import type { DecodedPiece, FileEnd, PieceDecoder } from "./piece-decoder.ts";

/** Decodes one WAV file piece by piece, skipping anything before its header, and tags after its audio. */
export class WavPieces implements PieceDecoder {
  readonly #file: Uint8Array;
  readonly #start: number;
  readonly #end: number;
  readonly #decoder: WavDecoder;
  /** Position in the file. */
  #offset = 0;

  constructor(file: Uint8Array) {
    this.#file = file;
    this.#start = waveIn(file) ?? 0;
    this.#end = tagsAtEnd(file, this.#start);
    const wav = file.subarray(this.#start, this.#end);
    this.#decoder = new WavDecoder({ size: wav.length, nextForeign: (from) => mp3AmongSamples(wav, from) });
  }

  push(bytes: Uint8Array): DecodedPiece[] {
    const from = Math.max(0, this.#start - this.#offset);
    const to = Math.max(from, this.#end - this.#offset);
    this.#offset += bytes.length;
    return this.#decoder.push(bytes.subarray(from, to));
  }

  finish(): FileEnd {
    const pieces = this.#decoder.finish();
    const { sampleRate = 0, channels = 0 } = this.#decoder.format ?? {};
    const { truncated } = this.#decoder;
    return { pieces, facts: { format: "wav", sampleRate, channels, truncated, bytes: this.#bytes() } };
  }

  close(): void {}

  #bytes(): FileBytes {
    const { header, played, ignored } = this.#decoder.bytes;
    const tagBytes = Math.min(afterZeros(this.#file, audioStart(this.#file)), this.#start);
    const unknownBytes = this.#start - tagBytes;
    return {
      header: header + tagBytes + this.#file.length - this.#end,
      played,
      ignored: unknownBytes > 0 ? [{ reason: "unknown_bytes", bytes: unknownBytes }, ...ignored] : ignored,
    };
  }
}
