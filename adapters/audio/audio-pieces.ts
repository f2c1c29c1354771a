import type { AudioFacts } from "../../src/ports/audio-decoder.ts";
import { Mp3Decoder } from "./mp3-decoder.ts";
import { WavPieces } from "./wav-pieces.ts";

/** The samples of one piece of a file. */
export interface DecodedPiece {
  readonly samples: Int16Array;
  /** Hz. */
  readonly sampleRate: number;
}

/** The end of a file. */
export interface FileEnd {
  /** The last samples. */
  readonly pieces: readonly DecodedPiece[];
  /** Properties of the file, except its length. */
  readonly facts: Omit<AudioFacts, "durationMs">;
}

/** The decoder of one file. */
export interface PieceDecoder {
  /**
   * Takes the next bytes and returns samples, cut wherever the sample rate changes. Throws an Error whose message is for
   * the sender of the file.
   */
  push(bytes: Uint8Array): readonly DecodedPiece[];
  /** Called once after the last bytes. */
  finish(): FileEnd;
  close(): void;
}

/** Limits that stop {@link eachPiece} before the end of the file. */
export interface PieceLimits {
  /** CPU time, ms. */
  readonly maxCpuMs: number;
  cancelled(): boolean;
}

/** At most a few milliseconds of work, so that the limits are checked often. */
const PIECE_BYTES = 16 * 1024;

/**
 * Decodes a file piece by piece and passes the samples of each to `visit`. Checks the clock and `cancelled` between pieces. Throws an Error whose message is for the sender of the file.
 */
export async function eachPiece(
  file: Uint8Array,
  format: AudioFacts["format"],
  limits: PieceLimits,
  visit: (piece: DecodedPiece) => void,
): Promise<Omit<AudioFacts, "durationMs">> {
  const startedAt = cpuMs();
  const decoder = format === "wav" ? new WavPieces(file) : await Mp3Decoder.open(file);
  try {
    for (let at = 0; at < file.length && !limits.cancelled(); at += PIECE_BYTES) {
      for (const piece of decoder.push(file.subarray(at, at + PIECE_BYTES))) visit(piece);
      if (cpuMs() - startedAt > limits.maxCpuMs) {
        throw new Error(`the audio takes more than ${limits.maxCpuMs / 1000} s to decode`);
      }
    }
    const { pieces, facts } = decoder.finish();
    for (const piece of pieces) visit(piece);
    return facts;
  } finally {
    decoder.close();
  }
}

/** CPU time of this thread, ms; if the runtime does not count it, elapsed time. */
function cpuMs(): number {
  const usage = (process as { threadCpuUsage?: () => { user: number; system: number } }).threadCpuUsage?.();
  return usage ? (usage.user + usage.system) / 1000 : performance.now();
}
