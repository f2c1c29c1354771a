import { msToSamples } from "../../../audio/pcm.ts";
import { Resampler } from "../../../audio/resample.ts";
import type { FrameSink } from "../../../ports/media.ts";

/** Length of a frame that a client gets, ms. */
const FRAME_MS = 20;
/** Longest piece that is taken in at a time, ms; longer frames of a leg are cut. */
const PIECE_MS = 60;

/**
 * What the callee says, as frames of 20 ms at the rate that a client wants, from the answer on and without gaps: until
 * the network brings the first of it, silence is told by the clock of what goes out. Where the rate is changed it comes
 * 16 samples of the lower rate late, so that every 20 ms of the leg are a frame at once.
 */
export class CalleeAudio implements FrameSink {
  /** The call is answered. */
  answered = false;
  readonly #tell: (frame: Int16Array) => void;
  #legRate = 0;
  /** Samples of one frame of the leg. */
  #legFrame = 0;
  #rate: number | undefined;
  #resampler: Resampler | undefined;
  #resampled = new Int16Array(0);
  #frame = new Int16Array(0);
  #filled = 0;
  #silence = new Int16Array(0);
  #inboundSince = false;
  /** Samples that went out, and for which nothing has come back or was told yet. */
  #owed = 0;

  /** @param tell takes a frame, which is used again afterwards, and does not write to it */
  constructor(tell: (frame: Int16Array) => void) {
    this.#tell = tell;
  }

  /** There is a leg with this rate, Hz, and frames so long, ms. */
  connect(sampleRate: number, frameMs: number): void {
    this.#legRate = sampleRate;
    this.#legFrame = msToSamples(frameMs, sampleRate);
    this.#silence = new Int16Array(msToSamples(PIECE_MS, sampleRate));
    this.#inboundSince = false;
    this.#owed = 0;
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
    this.#inboundSince = true;
    this.#owed = 0;
    const most = this.#silence.length;
    if (frame.length <= most) this.#hear(frame);
    else for (let at = 0; at < frame.length; at += most) this.#hear(frame.subarray(at, at + most));
  }

  /**
   * The leg has sent so many samples: as long as nothing comes back, that much silence was heard. What belongs to the
   * latest frame is told with the next one, since the first audio may come in between.
   */
  sent(samples: number): void {
    if (this.#inboundSince) return;
    this.#owed += samples;
    while (this.#owed > this.#legFrame) {
      const silent = Math.min(this.#owed - this.#legFrame, this.#silence.length);
      this.#owed -= silent;
      this.#hear(silent === this.#silence.length ? this.#silence : this.#silence.subarray(0, silent));
    }
  }

  #prepare(): void {
    const rate = this.#rate;
    if (rate === undefined || this.#legRate === 0) return;
    this.#resampler = new Resampler(this.#legRate, rate, this.#silence.length);
    this.#resampled = new Int16Array(msToSamples(PIECE_MS, rate) + 2);
    this.#frame = new Int16Array(msToSamples(FRAME_MS, rate));
    this.#filled = Math.ceil((this.#resampler.kept * rate) / this.#legRate);
  }

  #hear(samples: Int16Array): void {
    if (!this.answered || this.#rate === undefined || this.#resampler === undefined) return;
    const frame = this.#frame;
    // As it is, where it is a frame already.
    if (this.#legRate === this.#rate && this.#filled === 0 && samples.length === frame.length) {
      this.#tell(samples);
      return;
    }
    const resampled = this.#resampled;
    const count = this.#resampler.pushInto(samples, resampled);
    for (let at = 0; at < count; ) {
      const from = this.#filled;
      const take = Math.min(count - at, frame.length - from);
      for (let i = 0; i < take; i++) frame[from + i] = resampled[at + i]!;
      at += take;
      this.#filled = from + take;
      if (this.#filled < frame.length) continue;
      this.#filled = 0;
      this.#tell(frame);
    }
  }
}
