import type { PcmChunk } from "../ports/media.ts";
import { Resampler } from "./resample.ts";

/** The pieces of a stream at one rate, Hz, whatever rate each of them came at. Throws a RangeError for an odd rate. */
export async function* resampleStream(
  chunks: AsyncIterable<PcmChunk>,
  sampleRate: number,
): AsyncGenerator<Int16Array, void> {
  let resampler: Resampler | undefined;
  let rate = 0;
  for await (const chunk of chunks) {
    if (!resampler || rate !== chunk.sampleRate) {
      if (resampler) yield resampler.flush();
      resampler = new Resampler(chunk.sampleRate, sampleRate);
      rate = chunk.sampleRate;
    }
    yield resampler.push(chunk.samples);
  }
  if (resampler) yield resampler.flush();
}
