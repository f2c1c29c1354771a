import { toSample } from "../../../../src/audio/pcm.ts";
import type { FrameSink } from "../../../../src/ports/media.ts";
import { FRAME } from "./audio-format.ts";

/** Most frames that wait to be passed on; with more, the delay has grown for nothing. */
const MOST_FRAMES = 5;
/** After that many frames with at least one to spare, the delay may shrink: 5 s. */
const STEADY_FRAMES = 84;
/** Peak of a frame that nobody misses. */
const QUIET = 300;

/**
 * The callee's audio: pieces of any length, whenever they arrive, become one frame for each tick of the leg. The first
 * frame is passed on once the first audio is there; missing ones are silence after that. A piece that comes late makes the
 * delay longer; quiet frames are left out when it was longer than needed for a while.
 */
export class InboundAudio {
  readonly #ring = new Int16Array(MOST_FRAMES * FRAME);
  readonly #frame = new Int16Array(FRAME);
  /** Index of the oldest sample, and number of samples. */
  #from = 0;
  #count = 0;
  #begun = false;
  /** Ticks since the ring was last empty after one. */
  #steady = 0;

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

  /** Passes on the frame that is due. Returns whether it is audio, or silence in its place; undefined before the first one. */
  tick(sink: FrameSink | undefined): boolean | undefined {
    const isAudio = this.#count >= FRAME;
    if (!this.#begun && !isAudio) return undefined;
    this.#begun = true;
    const frame = this.#frame;
    if (!isAudio) {
      this.#steady = 0;
      frame.fill(0);
    } else {
      this.#take();
      this.#steady = this.#count < FRAME ? 0 : this.#steady + 1;
      if (this.#steady >= STEADY_FRAMES && this.#isQuiet()) this.#take();
    }
    sink?.write(frame);
    return isAudio;
  }

  #take(): void {
    const ring = this.#ring;
    const frame = this.#frame;
    let at = this.#from;
    for (let i = 0; i < FRAME; i++) {
      frame[i] = ring[at]!;
      at = at + 1 === ring.length ? 0 : at + 1;
    }
    this.#drop(FRAME);
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
