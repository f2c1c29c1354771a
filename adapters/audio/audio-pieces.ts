import { WavDecoder } from "../../src/audio/wav.ts";
import type { AudioFacts } from "../../src/ports/audio-decoder.ts";
import { Mp3Decoder } from "./mp3-decoder.ts";

/** The samples of one piece of a file. */
export interface DecodedPiece {
  readonly samples: Int16Array;
  /** Hz. */
  readonly sampleRate: number;
}

/** The decoder of one file. */
export interface PieceDecoder {
  /** Takes the next bytes. Throws an Error whose message is for the sender of the file. */
  push(bytes: Uint8Array): DecodedPiece;
  /** Called once after the last bytes; returns the properties of the file, except its length. */
  finish(): Omit<AudioFacts, "durationMs">;
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
  const decoder = format === "wav" ? wavPieces() : await Mp3Decoder.open(file);
  try {
    for (let at = 0; at < file.length && !limits.cancelled(); at += PIECE_BYTES) {
      const piece = decoder.push(file.subarray(at, at + PIECE_BYTES));
      if (piece.samples.length > 0) visit(piece);
      if (cpuMs() - startedAt > limits.maxCpuMs) {
        throw new Error(`the audio takes more than ${limits.maxCpuMs / 1000} s to decode`);
      }
    }
    return decoder.finish();
  } finally {
    decoder.close();
  }
}

function wavPieces(): PieceDecoder {
  const decoder = new WavDecoder();
  return {
    push: (bytes) => {
      const samples = decoder.push(bytes);
      return { samples, sampleRate: decoder.format?.sampleRate ?? 0 };
    },
    finish() {
      decoder.finish();
      const { sampleRate = 0, channels = 0 } = decoder.format ?? {};
      return { format: "wav", sampleRate, channels, truncated: decoder.truncated };
    },
    close() {},
  };
}

/** CPU time of this thread, ms; if the runtime does not count it, elapsed time. */
function cpuMs(): number {
  const usage = (process as { threadCpuUsage?: () => { user: number; system: number } }).threadCpuUsage?.();
  return usage ? (usage.user + usage.system) / 1000 : performance.now();
}
