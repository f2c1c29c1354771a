import { toSample } from "../../../../src/audio/samples/pcm.ts";
import { type FrameSink, SAMPLE } from "../../../../src/ports/media.ts";
import { WHATSAPP_FRAME } from "./audio-format.ts";
import type { AudioStatistics } from "./audio-statistics.ts";

/** Maximum pending frames; more would only add delay. */
const MAX_FRAMES = 5;
/** Frames to have when one is due: that frame, and a spare for late audio. */
const ENOUGH_FRAMES = 2;
/** Frames in a row with more than enough audio after which the delay may shrink: 5 s. */
const STEADY_FRAMES = 84;
/** Peak of a frame that can be dropped unnoticed. */
const QUIET = 300;
const NOT_RECEIVED = new Uint8Array(WHATSAPP_FRAME).fill(SAMPLE.filledIn);

/**
 * The callee's audio: pieces of any length, whenever they arrive, become one frame for each tick of the leg. The first
 * frame is passed on once there is audio; missing ones become silence. Late audio makes the delay
 * longer; quiet frames are left out when it was longer than needed for a while.
 */
export class InboundAudio {
  readonly #ring = new Int16Array(MAX_FRAMES * WHATSAPP_FRAME);
  readonly #frame = new Int16Array(WHATSAPP_FRAME);
  readonly #statistics: Pick<AudioStatistics, "passedOn">;
  /** Index of the oldest sample, and number of samples. */
  #from = 0;
  #count = 0;
  #begun = false;
  /** True while frames wait until there are enough, or for one tick. */
  #filling = true;
  #waited = false;
  /** Number of due frames. */
  #dueFrames = 0;
  /** Ticks since the buffer last had no more than enough. */
  #steady = 0;

  constructor(statistics: Pick<AudioStatistics, "passedOn">) {
    this.#statistics = statistics;
  }

  /** Adds samples from -1 to 1. */
  add(pcm: Float32Array): void {
    const ring = this.#ring;
    const first = Math.max(0, pcm.length - ring.length);
    this.#drop(this.#count + (pcm.length - first) - ring.length);
    let at = (this.#from + this.#count) % ring.length;
    for (let i = first; i < pcm.length; i++) {
      ring[at] = toSample(pcm[i]! * 32_768);
      at = at + 1 === ring.length ? 0 : at + 1;
    }
    this.#count += pcm.length - first;
  }

  /**
   * Passes on the frame that is due.
   * @param stalled true if this thread stalled: audio that seems to be missing may be waiting, so the frame is passed
   * on later
   */
  tick(sink: FrameSink | undefined, stalled: boolean): void {
    if (!this.#begun && !this.#isReady()) return;
    this.#begun = true;
    this.#dueFrames++;
    while (this.#dueFrames > 0) {
      const isAudio = this.#isReady();
      if (!isAudio && stalled && this.#dueFrames < MAX_FRAMES) return;
      this.#dueFrames--;
      if (isAudio) this.#next();
      else this.#missing();
      this.#statistics.passedOn(isAudio);
      sink?.write(this.#frame, isAudio ? undefined : NOT_RECEIVED);
    }
  }

  /** True if the next frame can be passed on; after a gap, a spare frame or a tick of waiting is also needed. */
  #isReady(): boolean {
    if (this.#count < WHATSAPP_FRAME) return false;
    if (this.#filling && !this.#waited && this.#count < ENOUGH_FRAMES * WHATSAPP_FRAME) {
      this.#waited = true;
      return false;
    }
    this.#filling = false;
    return true;
  }

  #next(): void {
    this.#take();
    this.#steady = this.#count < ENOUGH_FRAMES * WHATSAPP_FRAME ? 0 : this.#steady + 1;
    if (this.#steady >= STEADY_FRAMES && this.#isQuiet()) this.#take();
  }

  #missing(): void {
    this.#filling = true;
    this.#waited &&= this.#count >= WHATSAPP_FRAME;
    this.#steady = 0;
    this.#frame.fill(0);
  }

  #take(): void {
    const ring = this.#ring;
    const frame = this.#frame;
    let at = this.#from;
    for (let i = 0; i < WHATSAPP_FRAME; i++) {
      frame[i] = ring[at]!;
      at = at + 1 === ring.length ? 0 : at + 1;
    }
    this.#drop(WHATSAPP_FRAME);
  }

  #isQuiet(): boolean {
    for (const sample of this.#frame) if (Math.abs(sample) > QUIET) return false;
    this.#steady = 0;
    return true;
  }

  /** Drops the oldest samples. */
  #drop(samples: number): void {
    if (samples <= 0) return;
    const dropped = Math.min(samples, this.#count);
    this.#from = (this.#from + dropped) % this.#ring.length;
    this.#count -= dropped;
  }
}
