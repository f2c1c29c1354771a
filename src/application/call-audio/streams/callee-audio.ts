import { FrameCutter } from "../../../audio/samples/frame-cutter.ts";
import { msToSamples } from "../../../audio/samples/pcm.ts";
import { Resampler } from "../../../audio/samples/resample.ts";
import type { FrameSink } from "../../../ports/media.ts";

/** Length of a client's frames, ms. */
const FRAME_MS = 20;
/** Longest piece that is processed at a time, ms; longer frames of a leg are split. */
const PIECE_MS = 60;

/**
 * Cuts the callee's audio into frames of 20 ms at the client's rate, from the answer on and without gaps: until the
 * network delivers the first frame, it emits silence, timed by the outgoing audio's clock. Resampled audio is 16
 * samples of the lower rate late, so that every 20 ms of the leg complete a frame at once.
 */
export class CalleeAudio implements FrameSink {
  /** True if the call has been answered. */
  isAnswered = false;
  readonly #emit: (frame: Int16Array) => void;
  #legRate = 0;
  /** Number of samples in one of the leg's frames. */
  #legFrameLength = 0;
  #clientRate: number | undefined;
  #resampler: Resampler | undefined;
  #resampled = new Int16Array(0);
  #cutter: FrameCutter | undefined;
  #silence = new Int16Array(0);
  #isReceiving = false;
  /** Number of samples that were played before the first inbound frame, and are not yet covered by silence. */
  #owedSamples = 0;

  /** @param emit receives each frame; it must not write to the array, which is reused afterwards */
  constructor(emit: (frame: Int16Array) => void) {
    this.#emit = emit;
  }

  /** Connects the call's leg: its rate, Hz, and the length of its frames, ms. */
  connect(sampleRate: number, frameMs: number): void {
    this.#legRate = sampleRate;
    this.#legFrameLength = msToSamples(frameMs, sampleRate);
    this.#silence = new Int16Array(msToSamples(PIECE_MS, sampleRate));
    this.#isReceiving = false;
    this.#owedSamples = 0;
    this.#prepare();
  }

  /** Starts emitting frames, once the call is answered. */
  start(): void {
    this.isAnswered = true;
  }

  /**
   * Sets the rate of the client, Hz.
   * @param sampleRate undefined without a client, or for one that receives no audio
   */
  setClientRate(sampleRate: number | undefined): void {
    this.#clientRate = sampleRate;
    this.#prepare();
  }

  write(frame: Int16Array): void {
    this.#isReceiving = true;
    this.#owedSamples = 0;
    const maxLength = this.#silence.length;
    if (frame.length <= maxLength) this.#process(frame);
    else for (let at = 0; at < frame.length; at += maxLength) this.#process(frame.subarray(at, at + maxLength));
  }

  /**
   * Counts samples that the leg has played: until the first inbound frame, emits as much silence. The silence of the
   * latest frame is emitted with the next frame, because the first inbound frame may arrive in between.
   */
  addPlayedSamples(samples: number): void {
    if (this.#isReceiving) return;
    this.#owedSamples += samples;
    while (this.#owedSamples > this.#legFrameLength) {
      const count = Math.min(this.#owedSamples - this.#legFrameLength, this.#silence.length);
      this.#owedSamples -= count;
      this.#process(count === this.#silence.length ? this.#silence : this.#silence.subarray(0, count));
    }
  }

  #prepare(): void {
    const rate = this.#clientRate;
    if (rate === undefined || this.#legRate === 0) return;
    this.#resampler = new Resampler(this.#legRate, rate, this.#silence.length);
    this.#resampled = new Int16Array(msToSamples(PIECE_MS, rate) + 2);
    const delay = Math.ceil((this.#resampler.heldSamples * rate) / this.#legRate);
    this.#cutter = new FrameCutter(msToSamples(FRAME_MS, rate), this.#emit, delay);
  }

  #process(samples: Int16Array): void {
    const cutter = this.#cutter;
    if (!this.isAnswered || this.#clientRate === undefined || this.#resampler === undefined || cutter === undefined)
      return;
    // The leg's frame already has the rate and length that the client wants.
    if (this.#legRate === this.#clientRate && cutter.filledSamples === 0 && samples.length === cutter.length)
      this.#emit(samples);
    else cutter.push(this.#resampled, 0, this.#resampler.pushInto(samples, this.#resampled));
  }
}
