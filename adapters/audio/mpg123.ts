import { MPEGDecoder } from "mpg123-decoder";

/** The samples of some frames. */
export interface Mpg123Piece {
  /** Samples of the left and right channels, -1 to 1; equal for mono. */
  readonly channels: readonly Float32Array[];
  /** Number of broken frames, which are left out. */
  readonly faults: number;
}

/** Decodes MP3 frames with mpg123, leaving out broken ones. */
export class Mpg123 {
  readonly #decoder: MPEGDecoder;

  private constructor(decoder: MPEGDecoder) {
    this.#decoder = decoder;
  }

  static async open(): Promise<Mpg123> {
    // Encoder padding is removed elsewhere: mpg123 knows only the first file's padding.
    const decoder = new MPEGDecoder({ enableGapless: false });
    await decoder.ready;
    return new Mpg123(decoder);
  }

  /** Decodes whole frames that share a sample rate; each frame is output immediately. */
  decode(frames: Uint8Array): Mpg123Piece {
    const { channelData, errors } = withoutConsoleErrors(() => this.#decoder.decode(frames));
    return { channels: channelData, faults: errors.length };
  }

  close(): void {
    this.#decoder.free();
  }
}

/** Runs without console.error: mpg123-decoder logs every broken frame, and a file may have a million. */
function withoutConsoleErrors<T>(run: () => T): T {
  const print = console.error;
  console.error = () => {};
  try {
    return run();
  } finally {
    console.error = print;
  }
}
