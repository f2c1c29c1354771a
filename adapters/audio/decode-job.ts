import { concatPcm } from "../../src/audio/samples/pcm.ts";
import { Resampler } from "../../src/audio/samples/resample.ts";
import type { AudioJobContext, DecodeInput } from "./audio-jobs.ts";
import { eachPiece } from "./audio-pieces.ts";

/**
 * Decodes a whole file to one channel at the requested rate, on the calling thread. Throws an Error whose
 * message is for the sender of the file.
 */
export async function decodeJob(input: DecodeInput, context: AudioJobContext<ArrayBuffer>): Promise<void> {
  const limits = { maxCpuMs: input.maxCpuMs, isCancelled: context.isCancelled };
  const pieces: Int16Array[] = [];
  let rate = 0;
  let resampler: Resampler | undefined;
  await eachPiece(new Uint8Array(input.file), input.format, limits, ({ samples, sampleRate }) => {
    // Concatenated MP3 files may have several rates.
    if (resampler === undefined || sampleRate !== rate) {
      if (resampler) pieces.push(resampler.flush());
      resampler = new Resampler(sampleRate, input.sampleRate);
      rate = sampleRate;
    }
    pieces.push(resampler.push(samples));
  });
  if (context.isCancelled()) return;
  if (resampler) pieces.push((resampler as Resampler).flush());
  const pcm = concatPcm(pieces);
  if (pcm.length === 0) throw new Error(`the ${input.format.toUpperCase()} file holds no audio`);
  context.emit(pcm.buffer, [pcm.buffer]);
}
