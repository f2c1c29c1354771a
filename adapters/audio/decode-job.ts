import type { AudioJobContext, DecodeInput } from "./audio-jobs.ts";
import { forEachPiece } from "./audio-pieces.ts";
import { ResampledPieces } from "./resampled-pieces.ts";

/**
 * Decodes a whole file to one channel at the requested rate, on the calling thread. Throws an Error whose
 * message is for the sender of the file.
 */
export async function decodeJob(input: DecodeInput, context: AudioJobContext<ArrayBuffer>): Promise<void> {
  const limits = { maxCpuMs: input.maxCpuMs, isCancelled: context.isCancelled };
  const pieces = new ResampledPieces(input.sampleRate);
  await forEachPiece(new Uint8Array(input.file), input.format, limits, (piece) => pieces.push(piece));
  if (context.isCancelled()) return;
  const pcm = pieces.finish();
  if (pcm.length === 0) throw new Error(`the ${input.format.toUpperCase()} file holds no audio`);
  context.emit(pcm.buffer, [pcm.buffer]);
}
