import { MPEGDecoder } from "mpg123-decoder";
import { pcmFromFloat } from "../../src/audio/pcm.ts";
import type { AudioFacts } from "../../src/ports/audio-decoder.ts";
import type { DecodedPiece, PieceDecoder } from "./audio-pieces.ts";
import { type Mp3Opening, mp3Opening } from "./mp3-opening.ts";

/** Broken frames in a file that is still worth playing; a hostile one has thousands. */
const MOST_FAULTS = 100;

/**
 * Decodes one MP3 file piece by piece with mpg123, without the silence that the encoder put around it.
 *
 * Frames that are broken are left out. After too many of them the rest of the file is ignored.
 */
export class Mp3Decoder implements PieceDecoder {
  readonly #decoder: MPEGDecoder;
  readonly #opening: Mp3Opening;
  #skip: number;
  #faults = 0;
  #samples = 0;

  private constructor(decoder: MPEGDecoder, opening: Mp3Opening) {
    this.#decoder = decoder;
    this.#opening = opening;
    this.#skip = opening.start;
  }

  /** Looks at the whole file for its first frame. Throws an Error when it has none. */
  static async open(file: Uint8Array): Promise<Mp3Decoder> {
    const opening = mp3Opening(file);
    if (opening === undefined) throw new Error("The MP3 file has no audio frames that follow each other.");
    const decoder = new MPEGDecoder();
    await decoder.ready;
    return new Mp3Decoder(decoder, opening);
  }

  push(bytes: Uint8Array): DecodedPiece {
    const { sampleRate } = this.#opening;
    // Tags may be longer than a piece; mpg123 need not read them.
    const audio = bytes.subarray(this.#skip);
    this.#skip = Math.max(0, this.#skip - bytes.length);
    if (audio.length === 0 || this.#faults > MOST_FAULTS) return { samples: new Int16Array(0), sampleRate };
    const decoded = quietly(() => this.#decoder.decode(audio));
    this.#faults += decoded.errors.length;
    this.#samples += decoded.samplesDecoded;
    return { samples: pcmFromFloat(decoded.channelData), sampleRate: decoded.sampleRate || sampleRate };
  }

  finish(): Omit<AudioFacts, "durationMs"> {
    const { sampleRate, channels, claimedSamples = 0 } = this.#opening;
    // The last frame of a whole file may be left out by the decoder, not more.
    const missing = claimedSamples - this.#samples > 1152;
    return { format: "mp3", sampleRate, channels, truncated: missing || this.#faults > MOST_FAULTS };
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
