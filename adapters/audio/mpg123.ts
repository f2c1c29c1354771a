import { MPEGDecoder } from "mpg123-decoder";
import { pcmFromFloat } from "../../src/audio/pcm.ts";
import type { DecodedPiece } from "./audio-pieces.ts";

/** The samples of one piece of an MP3. */
export interface Mpg123Piece extends DecodedPiece {
  /** Number of broken frames, which are left out. */
  readonly faults: number;
}

/** Decodes one MP3 with mpg123: mono, without the encoder's padding and without broken frames. */
export class Mpg123 {
  readonly #decoder: MPEGDecoder;

  private constructor(decoder: MPEGDecoder) {
    this.#decoder = decoder;
  }

  static async open(): Promise<Mpg123> {
    const decoder = new MPEGDecoder();
    await decoder.ready;
    return new Mpg123(decoder);
  }

  /** The rate of the result is that of the last frame; 0 before the first. */
  decode(bytes: Uint8Array): Mpg123Piece {
    const { channelData, sampleRate, errors } = quietly(() => this.#decoder.decode(bytes));
    return { samples: pcmFromFloat(channelData), sampleRate, faults: errors.length };
  }

  close(): void {
    this.#decoder.free();
  }
}

/** Runs without console.error: mpg123-decoder prints every broken frame, and a file may have a million. */
function quietly<T>(run: () => T): T {
  const print = console.error;
  console.error = () => {};
  try {
    return run();
  } finally {
    console.error = print;
  }
}
