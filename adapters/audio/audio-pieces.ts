import { AudioFormatError } from "../../src/audio/audio-format-error.ts";
import { conversionOf } from "../../src/audio/conversion.ts";
import { mp3InWav } from "../../src/audio/mp3/mp3-in-wav.ts";
import type { AudioFacts } from "../../src/ports/audio-decoder.ts";
import { Mp3Decoder } from "./mp3-decoder.ts";
import { type DecodedPiece, decodedPieces, type PieceDecoder } from "./piece-decoder.ts";
import { WavPieces } from "./wav-pieces.ts";

/** Limits that stop {@link forEachPiece} before the end of the file. */
export interface PieceLimits {
  /** Maximum CPU time, ms. */
  readonly maxCpuMs: number;
  isCancelled(): boolean;
}

/**
 * Decodes a file piece by piece and passes each piece's samples to `visit`. Checks the clock and `isCancelled` between
 * pieces. Throws an Error whose message is for the sender of the file.
 */
export async function forEachPiece(
  file: Uint8Array,
  format: AudioFacts["format"],
  limits: PieceLimits,
  visit: (piece: DecodedPiece) => void,
): Promise<Omit<AudioFacts, "durationMs">> {
  const startedAt = cpuMs();
  const decoder = await decoderOf(file, format);
  try {
    const allPieces = decodedPieces(decoder, file, () => limits.isCancelled());
    for (;;) {
      const { done, value } = allPieces.next();
      if (done) return value;
      for (const piece of value) visit(piece);
      if (cpuMs() - startedAt > limits.maxCpuMs)
        throw new Error(`the audio takes more than ${limits.maxCpuMs / 1000} s to decode`);
    }
  } catch (error) {
    if (!(error instanceof AudioFormatError) || error.kind !== "unsupported") throw error;
    throw new Error(`${error.message}: ${conversionOf("WAV")}`, { cause: error });
  } finally {
    decoder.close();
  }
}

async function decoderOf(file: Uint8Array, format: AudioFacts["format"]): Promise<PieceDecoder> {
  if (format === "mp3") return Mp3Decoder.open(file);
  const range = mp3InWav(file);
  return range === undefined ? new WavPieces(file) : Mp3Decoder.open(file, range);
}

/** CPU time of this thread, ms; if the runtime does not count it, elapsed time. */
function cpuMs(): number {
  const usage = (process as { threadCpuUsage?: () => { user: number; system: number } }).threadCpuUsage?.();
  return usage ? (usage.user + usage.system) / 1000 : performance.now();
}
