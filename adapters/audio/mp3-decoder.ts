import type { DecodedPiece, FileEnd, PieceDecoder } from "./audio-pieces.ts";
import { type Mp3Opening, mp3Opening } from "./mp3-opening.ts";
import { Mpg123 } from "./mpg123.ts";

/** Maximum number of broken frames; a hostile file has thousands. */
const MOST_FAULTS = 100;

/** Decodes one MP3 file piece by piece. After too many broken frames the rest of the file is ignored. */
export class Mp3Decoder implements PieceDecoder {
  readonly #decoder: Mpg123;
  readonly #opening: Mp3Opening;
  #skip: number;
  #faults = 0;
  #samples = 0;

  private constructor(decoder: Mpg123, opening: Mp3Opening) {
    this.#decoder = decoder;
    this.#opening = opening;
    this.#skip = opening.start;
  }

  /** Finds the first frame of the whole file. Throws an Error if there is none. */
  static async open(file: Uint8Array): Promise<Mp3Decoder> {
    const opening = mp3Opening(file);
    if (opening === undefined) throw new Error("the MP3 file has no audio frames that follow each other");
    return new Mp3Decoder(await Mpg123.open(), opening);
  }

  push(bytes: Uint8Array): DecodedPiece[] {
    const { sampleRate } = this.#opening;
    // Tags may be longer than a piece; mpg123 need not read them.
    const audio = bytes.subarray(this.#skip);
    this.#skip = Math.max(0, this.#skip - bytes.length);
    if (audio.length === 0 || this.#faults > MOST_FAULTS) return [];
    const decoded = this.#decoder.decode(audio);
    this.#faults += decoded.faults;
    this.#samples += decoded.samples.length;
    return decoded.samples.length === 0
      ? []
      : [{ samples: decoded.samples, sampleRate: decoded.sampleRate || sampleRate }];
  }

  finish(): FileEnd {
    const { sampleRate, channels, claimedSamples = 0 } = this.#opening;
    // The decoder may leave out the last frame of a whole file, but no more.
    const missing = claimedSamples - this.#samples > 1152;
    const truncated = missing || this.#faults > MOST_FAULTS;
    return { pieces: [], facts: { format: "mp3", sampleRate, channels, truncated } };
  }

  close(): void {
    this.#decoder.close();
  }
}
