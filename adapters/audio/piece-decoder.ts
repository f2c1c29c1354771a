import type { AudioFacts } from "../../src/ports/audio-decoder.ts";

/** The samples of one piece of a file. */
export interface DecodedPiece {
  readonly samples: Int16Array;
  /** Sample rate, Hz. */
  readonly sampleRate: number;
}

/** The last samples of a file, and its properties. */
export interface FileEnd {
  /** The last samples. */
  readonly pieces: readonly DecodedPiece[];
  /** Properties of the file, except its length. */
  readonly facts: Omit<AudioFacts, "durationMs">;
}

/** The decoder of one file. */
export interface PieceDecoder {
  /**
   * Decodes the next bytes and returns samples, split wherever the sample rate changes. Throws an Error whose message
   * is for the sender of the file.
   */
  push(bytes: Uint8Array): readonly DecodedPiece[];
  /** Called once after the last bytes. */
  finish(): FileEnd;
  close(): void;
}

/** Maximum number of bytes decoded at a time: a few milliseconds of work. */
const MAX_PIECE_BYTES = 16 * 1024;

/**
 * The samples of a file, a few at a time, so that the caller can stop in between.
 * @param isCancelled true if the rest of the file is left out
 * @returns the properties of the file
 */
export function* decodedPieces(
  decoder: PieceDecoder,
  file: Uint8Array,
  isCancelled: () => boolean = () => false,
): Generator<readonly DecodedPiece[], FileEnd["facts"]> {
  for (let offset = 0; offset < file.length && !isCancelled(); offset += MAX_PIECE_BYTES)
    yield decoder.push(file.subarray(offset, offset + MAX_PIECE_BYTES));
  const { pieces, facts } = decoder.finish();
  yield pieces;
  return facts;
}
