import { msToSamples } from "../../audio/pcm.ts";
import { Resampler } from "../../audio/resample.ts";
import type { FrameSink } from "../../ports/media.ts";

/** Length of a frame that a client gets, ms. */
const FRAME_MS = 20;
/** Longest frame of any leg, ms. */
const MOST_LEG_MS = 120;

/**
 * What the callee says, as frames of 20 ms at the rate that a client wants, from the answer on and without gaps: until
 * the network brings the first of it, silence is told by the clock of what goes out.
 */
export class CalleeAudio implements FrameSink {
  /** The call is answered. */
  answered = false;
  readonly #tell: (frame: Int16Array) => void;
  #legRate = 0;
  #rate: number | undefined;
  #resampler: Resampler | undefined;
  #resampled = new Int16Array(0);
  #frame = new Int16Array(0);
  #filled = 0;
  #silence = new Int16Array(0);
  #flowing = false;

  /** @param tell takes a frame, which is used again afterwards */
  constructor(tell: (frame: Int16Array) => void) {
    this.#tell = tell;
  }

  /** There is a leg with this rate, Hz. */
  connect(sampleRate: number): void {
    this.#legRate = sampleRate;
    this.#silence = new Int16Array(msToSamples(MOST_LEG_MS, sampleRate));
    this.#prepare();
  }

  /** From now on there is audio to be told. */
  start(): void {
    this.answered = true;
  }

  /** Another client, who wants this rate, Hz; undefined: nobody, or none. */
  listen(sampleRate: number | undefined): void {
    this.#rate = sampleRate;
    this.#prepare();
  }

  write(frame: Int16Array): void {
    this.#flowing = true;
    this.#hear(frame);
  }

  /** The leg has sent so many samples: as long as nothing comes back, that much silence was heard. */
  sent(samples: number): void {
    if (this.#flowing) return;
    for (let left = samples; left > 0; left -= this.#silence.length)
      this.#hear(left >= this.#silence.length ? this.#silence : this.#silence.subarray(0, left));
  }

  #prepare(): void {
    const rate = this.#rate;
    if (rate === undefined || this.#legRate === 0) return;
    const resampler = new Resampler(this.#legRate, rate);
    this.#resampler = resampler;
    this.#resampled = new Int16Array(msToSamples(MOST_LEG_MS, rate) + 2);
    this.#frame = new Int16Array(msToSamples(FRAME_MS, rate));
    // The first frame begins with as much silence as the resampler keeps: then each frame of the leg completes one, and
    // most of it is told at once instead of a frame later.
    this.#filled = Math.ceil((resampler.kept * rate) / this.#legRate);
  }

  #hear(frame: Int16Array): void {
    if (!this.answered || this.#rate === undefined || this.#resampler === undefined) return;
    const count = this.#resampler.pushInto(frame, this.#resampled);
    for (let i = 0; i < count; i++) {
      this.#frame[this.#filled++] = this.#resampled[i]!;
      if (this.#filled < this.#frame.length) continue;
      this.#filled = 0;
      this.#tell(this.#frame);
    }
  }
}
