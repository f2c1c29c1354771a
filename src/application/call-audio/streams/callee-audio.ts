import { FrameCutter } from "../../../audio/samples/frame-cutter.ts";
import { msToSamples } from "../../../audio/samples/pcm.ts";
import { Resampler } from "../../../audio/samples/resample.ts";
import type { FrameSink } from "../../../ports/media.ts";

/** Length of a client's frames, ms. */
const FRAME_MS = 20;
/** Longest piece that is processed at a time, ms; longer frames of a leg are cut. */
const PIECE_MS = 60;

/**
 * Cuts the callee's audio into frames of 20 ms at the client's rate, from the answer on and without gaps: until the
 * network delivers the first frame, it emits silence by the clock of the outgoing audio. Resampled audio is 16 samples
 * of the lower rate late, so that every 20 ms of the leg complete a frame at once.
 */
export class CalleeAudio implements FrameSink {
  /** True if the call has been answered. */
  answered = false;
  readonly #emit: (frame: Int16Array) => void;
  #legRate = 0;
  /** Samples of one frame of the leg. */
  #legFrame = 0;
  #rate: number | undefined;
  #resampler: Resampler | undefined;
  #resampled = new Int16Array(0);
  #cutter: FrameCutter | undefined;
  #silence = new Int16Array(0);
  #receiving = false;
  /** Samples that were played before the first inbound frame, and not covered by silence yet. */
  #owed = 0;

  /** @param emit receives each frame; it must not write to the array, which is reused afterwards */
  constructor(emit: (frame: Int16Array) => void) {
    this.#emit = emit;
  }

  /** The call has a leg: its rate, Hz, and the length of its frames, ms. */
  connect(sampleRate: number, frameMs: number): void {
    this.#legRate = sampleRate;
    this.#legFrame = msToSamples(frameMs, sampleRate);
    this.#silence = new Int16Array(msToSamples(PIECE_MS, sampleRate));
    this.#receiving = false;
    this.#owed = 0;
    this.#prepare();
  }

  /** Starts emitting frames, once the call is answered. */
  start(): void {
    this.answered = true;
  }

  /** Sets the rate of the client, Hz; undefined: no client, or one without audio. */
  listen(sampleRate: number | undefined): void {
    this.#rate = sampleRate;
    this.#prepare();
  }

  write(frame: Int16Array): void {
    this.#receiving = true;
    this.#owed = 0;
    const most = this.#silence.length;
    if (frame.length <= most) this.#process(frame);
    else for (let at = 0; at < frame.length; at += most) this.#process(frame.subarray(at, at + most));
  }

  /**
   * The leg has played this many samples: until the first inbound frame, emits as much silence. The silence of the latest
   * frame is emitted with the next one, since the first inbound frame may arrive in between.
   */
  played(samples: number): void {
    if (this.#receiving) return;
    this.#owed += samples;
    while (this.#owed > this.#legFrame) {
      const silent = Math.min(this.#owed - this.#legFrame, this.#silence.length);
      this.#owed -= silent;
      this.#process(silent === this.#silence.length ? this.#silence : this.#silence.subarray(0, silent));
    }
  }

  #prepare(): void {
    const rate = this.#rate;
    if (rate === undefined || this.#legRate === 0) return;
    this.#resampler = new Resampler(this.#legRate, rate, this.#silence.length);
    this.#resampled = new Int16Array(msToSamples(PIECE_MS, rate) + 2);
    const delay = Math.ceil((this.#resampler.heldSamples * rate) / this.#legRate);
    this.#cutter = new FrameCutter(msToSamples(FRAME_MS, rate), this.#emit, delay);
  }

  #process(samples: Int16Array): void {
    const cutter = this.#cutter;
    if (!this.answered || this.#rate === undefined || this.#resampler === undefined || cutter === undefined) return;
    // The leg's frame already has the rate and length that the client wants.
    if (this.#legRate === this.#rate && cutter.filled === 0 && samples.length === cutter.length) this.#emit(samples);
    else cutter.push(this.#resampled, 0, this.#resampler.pushInto(samples, this.#resampled));
  }
}
