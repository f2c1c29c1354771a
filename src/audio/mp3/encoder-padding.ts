import type { Mp3Info } from "./mp3-info.ts";

/** The delay of every MP3 decoder, samples. */
const DECODER_DELAY = 529;

/** Cuts off the samples that an MP3 encoder adds before and after the audio of one file. */
export class EncoderPadding {
  #position = 0;
  readonly #start: number;
  readonly #end: number;
  readonly #framesEnd: number;

  /**
   * @param info the file's tag that states the padding; undefined without such a tag
   * @param frameSamples samples of one frame
   */
  constructor(info: Mp3Info | undefined, frameSamples: number) {
    const [before, after] = info?.padding ?? [0, 0];
    const isStated = info?.padding !== undefined && info.frames !== undefined;
    this.#start = info?.padding === undefined ? 0 : before + DECODER_DELAY;
    this.#framesEnd = isStated ? (info.frames ?? 0) * frameSamples : Infinity;
    this.#end = isStated ? this.#framesEnd - Math.max(0, after - DECODER_DELAY) : Infinity;
  }

  /** Returns the audio among the next samples of each channel. Frames beyond the stated number are all audio. */
  cut(channels: readonly Float32Array[]): Float32Array[] {
    const from = this.#position;
    const length = channels[0]?.length ?? 0;
    this.#position += length;
    const [start, end, framesEnd] = [this.#start, this.#end, this.#framesEnd].map((edge) =>
      Math.max(0, Math.min(length, edge - from)),
    ) as [number, number, number];
    return channels.map((samples) =>
      concat(samples.subarray(start, Math.max(start, end)), samples.subarray(framesEnd)),
    );
  }
}

function concat(first: Float32Array, second: Float32Array): Float32Array {
  if (second.length === 0) return first;
  const result = new Float32Array(first.length + second.length);
  result.set(first);
  result.set(second, first.length);
  return result;
}
