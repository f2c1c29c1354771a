/** Rate of a call's audio, Hz. */
export const RATE = 16_000;
/** Length of the frames that the engine sends and delivers, ms. */
export const LIVE_FRAME_MS = 60;
/** Number of samples of one frame. */
export const LIVE_FRAME = (RATE * LIVE_FRAME_MS) / 1000;
/** Feeding pauses at 120 ms of buffered audio and continues at 60 ms. */
export const WATERMARKS: { readonly pauseMs: number; readonly resumeMs: number } = { pauseMs: 120, resumeMs: 60 };
/** Length of the buffer above which the engine skips ahead to the last frame, samples. */
const HIGH_WATER_SAMPLES = RATE * 0.2;
/** Capacity of the buffer, samples; adding more drops the oldest samples. */
const CAPACITY_SAMPLES = RATE * 0.5;

/**
 * The engine's buffer of fed audio: capture starts one frame behind the write position, and reading starts once a frame
 * is buffered; above 200 ms it skips ahead, and above 500 ms it drops audio.
 */
export class LiveAudio {
  /** Number of samples that were skipped or dropped unsent. */
  lostSamples = 0;
  #isExternal = false;
  #samples = new Float32Array(0);
  #isStarted = false;

  /** Switches to audio from {@link feed}, or to silence. Starts with an empty buffer. */
  setExternal(isExternal: boolean): void {
    this.#isExternal = isExternal;
    this.#isStarted = false;
    this.#samples = new Float32Array(0);
  }

  /** Returns the buffered audio, ms. */
  feed(samples: Float32Array): number {
    if (!this.#isExternal) return 0;
    const bufferedSamples = new Float32Array(this.#samples.length + samples.length);
    bufferedSamples.set(this.#samples);
    bufferedSamples.set(samples, this.#samples.length);
    this.#keepLast(bufferedSamples, CAPACITY_SAMPLES);
    return this.bufferedMs;
  }

  get bufferedMs(): number {
    return (this.#samples.length * 1000) / RATE;
  }

  /** Starts reading one frame behind the write position: earlier audio is lost. */
  startCapture(): void {
    if (!this.#isExternal) return;
    this.#keepLast(this.#samples, LIVE_FRAME);
    this.#isStarted = this.#samples.length >= LIVE_FRAME;
  }

  /** The next frame to send: silence if none is due. */
  next(): Float32Array<ArrayBuffer> {
    const frame = new Float32Array(LIVE_FRAME);
    if (!this.#isStarted && this.#samples.length < LIVE_FRAME) return frame;
    this.#isStarted = true;
    if (this.#samples.length > HIGH_WATER_SAMPLES) this.#keepLast(this.#samples, LIVE_FRAME);
    frame.set(this.#samples.subarray(0, LIVE_FRAME));
    this.#samples = this.#samples.slice(LIVE_FRAME);
    return frame;
  }

  #keepLast(samples: Float32Array, max: number): void {
    const excess = Math.max(0, samples.length - max);
    this.lostSamples += excess;
    this.#samples = samples.slice(excess);
  }
}
