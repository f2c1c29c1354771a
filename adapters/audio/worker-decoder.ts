import { formatRefusal } from "../../src/audio/conversion.ts";
import { copyInTurns } from "../../src/audio/copy-in-turns.ts";
import { mp3InWav } from "../../src/audio/mp3/mp3-in-wav.ts";
import { sniff } from "../../src/audio/sniffing/sniff.ts";
import { type AudioDecoder, type AudioFacts, AudioUnsupported } from "../../src/ports/audio-decoder.ts";
import type { AudioWorkers } from "./audio-jobs.ts";
import { decodedPieces } from "./piece-decoder.ts";
import { ResampledPieces } from "./resampled-pieces.ts";
import { WavPieces } from "./wav-pieces.ts";

/** CPU time limit for inspecting a file, ms; a ten-minute MP3 takes about 3 s on a slow machine. */
const INSPECT_CPU_MS = 5_000;
/** CPU time limit for decoding, ms: the work of an inspection, plus resampling. */
const DECODE_CPU_MS = 15_000;
/**
 * Elapsed time after which the worker is stopped, as a multiple of the CPU limit: other work may keep the machine busy.
 */
const TIMEOUT_FACTOR = 4;
/** A WAV file up to this size is decoded on the calling thread: passing it to a worker and back takes longer. */
const MAX_DIRECT_BYTES = 64 << 10;

/**
 * Decodes WAV and MP3 files in workers, except short WAV files, and detects the format from the bytes alone. Decodes
 * MP3 streams on the calling thread, because a second of audio takes only a few milliseconds. Closing the decoder
 * leaves the worker pool open.
 */
export function workerDecoder(pool: AudioWorkers): AudioDecoder {
  return {
    async inspect(file, { maxDurationMs }, signal) {
      const format = formatOf(file);
      const copy = await copyInTurns(file); // the caller keeps the file
      const job = { kind: "inspect", file: copy, format, maxDurationMs, maxCpuMs: INSPECT_CPU_MS } as const;
      return onlyPiece(pool.run(job, { signal, timeoutMs: TIMEOUT_FACTOR * INSPECT_CPU_MS, transfer: [copy] }), signal);
    },
    async decode(file, sampleRate, signal) {
      const format = formatOf(file);
      signal?.throwIfAborted();
      const directSamples =
        format === "wav" && file.length <= MAX_DIRECT_BYTES ? decodedWav(file, sampleRate) : undefined;
      if (directSamples) return directSamples;
      const copy = await copyInTurns(file); // the caller keeps the file
      const job = { kind: "decode", file: copy, format, sampleRate, maxCpuMs: DECODE_CPU_MS } as const;
      const pieces = pool.run(job, { signal, timeoutMs: TIMEOUT_FACTOR * DECODE_CPU_MS, transfer: [copy] });
      return new Int16Array(await onlyPiece(pieces, signal));
    },
    async mp3Stream() {
      const { mp3Stream } = await import("./mp3-stream.ts");
      return mp3Stream();
    },
    async close() {},
  };
}

/**
 * The samples of a WAV file; undefined if the file needs the MP3 decoder, or has a fault, which a worker then reports.
 */
function decodedWav(file: Uint8Array, sampleRate: number): Int16Array | undefined {
  try {
    if (mp3InWav(file) !== undefined) return undefined;
    const resampled = new ResampledPieces(sampleRate);
    for (const pieces of decodedPieces(new WavPieces(file), file)) for (const piece of pieces) resampled.push(piece);
    const samples = resampled.finish();
    return samples.length > 0 ? samples : undefined;
  } catch {
    return undefined;
  }
}

function formatOf(file: Uint8Array): AudioFacts["format"] {
  const format = sniff(file);
  if (typeof format === "string") return format;
  throw new AudioUnsupported(`the audio is ${formatRefusal(format.unsupported)}`);
}

/** Returns the single piece of a job. Job failures become {@link AudioUnsupported}; pool failures stay unchanged. */
async function onlyPiece<Piece>(pieces: AsyncIterable<Piece>, signal: AbortSignal | undefined): Promise<Piece> {
  try {
    for await (const piece of pieces) return piece;
  } catch (error) {
    signal?.throwIfAborted();
    const { kind } = error as { kind?: unknown };
    if (error instanceof Error && kind === "failed") throw new AudioUnsupported(error.message, { cause: error });
    if (kind === "timeout") throw new AudioUnsupported("the audio takes too long to decode", { cause: error });
    throw error;
  }
  throw new AudioUnsupported("the audio could not be decoded");
}
