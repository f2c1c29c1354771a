import { toSample } from "../../../../src/audio/samples/pcm.ts";
import { type FrameSink, SAMPLE } from "../../../../src/ports/media.ts";
import type { AudioStatistics } from "./audio-statistics.ts";
import { WHATSAPP_FRAME } from "./whatsapp-frame.ts";

/** Maximum number of pending frames; more would only add delay. */
const MAX_FRAMES = 5;
/** Number of frames that should be buffered when a frame is due: that frame, and a spare in case audio is late. */
const TARGET_FRAMES = 2;
/** Number of consecutive frames with more than enough audio after which the delay may shrink: 5 s. */
const MIN_STEADY_FRAMES = 84;
/** Highest peak of a frame that can be dropped unnoticed. */
const MAX_QUIET_PEAK = 300;
const NOT_RECEIVED = new Uint8Array(WHATSAPP_FRAME).fill(SAMPLE.filledIn);

/**
 * Turns the callee's audio, which arrives in pieces of any length at any time, into one frame per tick of the leg. The
 * first frame is passed on once there is audio; missing frames become silence. Late audio increases the delay; when the
 * delay has been longer than necessary for a while, quiet frames are dropped.
 */
export class InboundAudio {
  readonly #ring = new Int16Array(MAX_FRAMES * WHATSAPP_FRAME);
  readonly #frame = new Int16Array(WHATSAPP_FRAME);
  readonly #statistics: Pick<AudioStatistics, "recordFrame">;
  /** Index of the oldest sample, and number of samples. */
  #readIndex = 0;
  #count = 0;
  #hasBegun = false;
  /** True while frames are held back until enough are buffered, or for one tick. */
  #isFilling = true;
  #hasWaited = false;
  /** Number of due frames. */
  #dueFrames = 0;
  /** Number of consecutive ticks with more than enough audio in the buffer. */
  #steadyTicks = 0;

  constructor(statistics: Pick<AudioStatistics, "recordFrame">) {
    this.#statistics = statistics;
  }

  /** Adds samples from -1 to 1. */
  add(pcm: Float32Array): void {
    const ring = this.#ring;
    const startIndex = Math.max(0, pcm.length - ring.length);
    this.#drop(this.#count + (pcm.length - startIndex) - ring.length);
    let index = (this.#readIndex + this.#count) % ring.length;
    for (let i = startIndex; i < pcm.length; i++) {
      ring[index] = toSample(pcm[i]! * 32_768);
      index = index + 1 === ring.length ? 0 : index + 1;
    }
    this.#count += pcm.length - startIndex;
  }

  /**
   * Passes on the frame that is due.
   * @param isStalled true if this thread stalled: audio that seems to be missing may have arrived, so the frame is
   * passed on later
   */
  tick(sink: FrameSink | undefined, isStalled: boolean): void {
    if (!this.#hasBegun && !this.#isReady()) return;
    this.#hasBegun = true;
    this.#dueFrames++;
    while (this.#dueFrames > 0) {
      const isAudio = this.#isReady();
      if (!isAudio && isStalled && this.#dueFrames < MAX_FRAMES) return;
      this.#dueFrames--;
      if (isAudio) this.#takeFrame();
      else this.#insertSilence();
      this.#statistics.recordFrame(isAudio);
      sink?.write(this.#frame, isAudio ? undefined : NOT_RECEIVED);
    }
  }

  /** True if the next frame can be passed on; after a gap, a spare frame or a tick of waiting is also needed. */
  #isReady(): boolean {
    if (this.#count < WHATSAPP_FRAME) return false;
    if (this.#isFilling && !this.#hasWaited && this.#count < TARGET_FRAMES * WHATSAPP_FRAME) {
      this.#hasWaited = true;
      return false;
    }
    this.#isFilling = false;
    return true;
  }

  #takeFrame(): void {
    this.#shiftFrame();
    this.#steadyTicks = this.#count < TARGET_FRAMES * WHATSAPP_FRAME ? 0 : this.#steadyTicks + 1;
    if (this.#steadyTicks >= MIN_STEADY_FRAMES && this.#isQuiet()) this.#shiftFrame();
  }

  #insertSilence(): void {
    this.#isFilling = true;
    this.#hasWaited &&= this.#count >= WHATSAPP_FRAME;
    this.#steadyTicks = 0;
    this.#frame.fill(0);
  }

  #shiftFrame(): void {
    const ring = this.#ring;
    const frame = this.#frame;
    let index = this.#readIndex;
    for (let i = 0; i < WHATSAPP_FRAME; i++) {
      frame[i] = ring[index]!;
      index = index + 1 === ring.length ? 0 : index + 1;
    }
    this.#drop(WHATSAPP_FRAME);
  }

  #isQuiet(): boolean {
    for (const sample of this.#frame) if (Math.abs(sample) > MAX_QUIET_PEAK) return false;
    this.#steadyTicks = 0;
    return true;
  }

  /** Drops the oldest samples. */
  #drop(samples: number): void {
    if (samples <= 0) return;
    const count = Math.min(samples, this.#count);
    this.#readIndex = (this.#readIndex + count) % this.#ring.length;
    this.#count -= count;
  }
}
