import { JitterBuffer } from "../../../../src/audio/playout/jitter-buffer.ts";
import { Resampler } from "../../../../src/audio/samples/resample.ts";

/** Maximum length of the audio in one message from the server, ms. */
const MAX_PIECE_MS = 200;

/** Buffering of audio that arrives in bursts. */
export interface Buffering {
  /** Length of the audio that is buffered before playback starts, ms. */
  readonly targetMs: number;
  /** Maximum backlog, ms. */
  readonly maxMs: number;
  /** Length of the audio still buffered when the next piece is due, ms. */
  readonly spareMs: number;
}

/** Buffers one channel of a call for the loudspeaker, and converts it from the call's sample rate to the device's. */
export class Playback {
  readonly #resampler: Resampler;
  readonly #buffer: JitterBuffer;
  readonly #maxPieceSamples: number;
  /** Reused for every piece and every block. */
  readonly #converted: Int16Array;
  #block = new Int16Array(128);

  /** Both rates in Hz. */
  constructor(callRate: number, deviceRate: number, buffering: Buffering) {
    this.#maxPieceSamples = (callRate * MAX_PIECE_MS) / 1_000;
    this.#resampler = new Resampler(callRate, deviceRate, this.#maxPieceSamples);
    this.#converted = new Int16Array(Math.ceil((this.#maxPieceSamples * deviceRate) / callRate) + 64);
    this.#buffer = new JitterBuffer({ sampleRate: deviceRate, ...buffering });
  }

  /** Buffers the call's next audio; keeps only the end of a piece that is too long. */
  push(samples: Int16Array): void {
    const piece = samples.length > this.#maxPieceSamples ? samples.subarray(-this.#maxPieceSamples) : samples;
    this.#buffer.write(this.#converted, this.#resampler.pushInto(piece, this.#converted));
  }

  /** Fills the whole block, from -1 to 1. */
  read(output: Float32Array): void {
    if (this.#block.length !== output.length) this.#block = new Int16Array(output.length);
    this.#buffer.read(this.#block);
    for (let i = 0; i < output.length; i++) output[i] = this.#block[i]! / 32_768;
  }
}
