import { channelLayout } from "../../src/audio/samples/channel-layout.ts";
import { MonoMix } from "../../src/audio/samples/mono-mix.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import type { Mp3Audio } from "./mp3-decoding.ts";

/** Full scale of 16-bit samples. */
const FULL_SCALE = 32_768;

/** Mixes the two channels of decoded MP3s into one, even if they cancel each other. */
export class Mp3Mix {
  #mix: MonoMix | undefined;
  #sampleRate = 0;

  /** Returns the samples of all full blocks; the rest is kept for the next audio or for {@link flush}. */
  push(audio: readonly Mp3Audio[]): PcmChunk[] {
    const chunks: PcmChunk[] = [];
    for (const { channels, sampleRate } of audio) {
      if (this.#mix === undefined || sampleRate !== this.#sampleRate) {
        chunks.push(...this.flush());
        this.#mix = new MonoMix(channelLayout(2), sampleRate);
        this.#sampleRate = sampleRate;
      }
      chunks.push(...this.#chunk(this.#mix.push(interleaved(channels))));
    }
    return chunks;
  }

  /** Returns the remaining samples. More audio may follow. */
  flush(): PcmChunk[] {
    return this.#mix === undefined ? [] : this.#chunk(this.#mix.flush());
  }

  #chunk(samples: Int16Array): PcmChunk[] {
    return samples.length === 0 ? [] : [{ samples, sampleRate: this.#sampleRate }];
  }
}

function interleaved([left, right = left]: readonly Float32Array[]): Float32Array {
  const values = new Float32Array(2 * (left?.length ?? 0));
  for (let i = 0; i < values.length / 2; i++) {
    values[2 * i] = left![i]! * FULL_SCALE;
    values[2 * i + 1] = right![i]! * FULL_SCALE;
  }
  return values;
}
