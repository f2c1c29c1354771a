import { Likeness } from "./similarity.ts";

/** Full level for so long, then down to nothing. */
const HOLD_MS = 20;
const FADE_UNTIL_MS = 100;
/** After a codec has made up what it could, what it made fades out within this. */
const AFTER_CODEC_MS = 40;
/** What is cut off without loss (a key, a pause of the peer) fades quicker. */
const QUICK_FADE_MS = 5;
/** How long what is made up and what is real are heard together. */
const CROSS_FADE_MS = 5;
/** Below this likeness the signal has no period, and a short loop would make it hum. */
const PERIODIC = 0.5;

/**
 * Makes up what the network lost, out of what was heard before: the last period of the voice over and over, fading out
 * within 100 ms, with crossed fades at both ends (after the idea of ITU-T G.711 appendix I). Then silence.
 */
export class Concealment {
  /** Samples before the gap that it looks at. */
  readonly history: number;
  readonly #likeness: Likeness;
  readonly #sampleRate: number;
  /** One period, made so that its end leads to its beginning. */
  readonly #loop: Float32Array;
  #period = 0;
  /** Samples made up since the gap began; -1 outside of gaps. */
  #made = -1;
  #offset = 0;
  #hold = 0;
  #end = 0;

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.#likeness = new Likeness(sampleRate);
    this.#loop = new Float32Array(this.#likeness.mostLag);
    this.history = 2 * this.#likeness.mostLag + this.#likeness.window;
  }

  /** Whether the sample before this one was made up. */
  get active(): boolean {
    return this.#made >= 0;
  }

  /**
   * Fills `line` from `tail` on with `samples` made-up ones; before `tail` lies what was heard, at least `history`.
   *
   * @param afterCodec that is made up already
   */
  fill(line: Int16Array, tail: number, samples: number, afterCodec: boolean): void {
    if (this.#made < 0) {
      if (afterCodec) this.#begin(line, tail, 0, AFTER_CODEC_MS);
      else this.#begin(line, tail, HOLD_MS, FADE_UNTIL_MS);
    }
    for (let i = 0; i < samples; i++) line[tail + i] = this.#next();
  }

  /** The same for a stretch in which nothing was lost: what was heard last fades at once. */
  hush(line: Int16Array, tail: number, samples: number): void {
    if (this.#made < 0) this.#begin(line, tail, 0, QUICK_FADE_MS);
    else this.#end = Math.min(this.#end, this.#made + this.#samples(QUICK_FADE_MS));
    for (let i = 0; i < samples; i++) line[tail + i] = this.#next();
  }

  /** The gap is over: `samples` real ones lie at `tail`; their beginning is blended with what would have been made up. */
  resume(line: Int16Array, tail: number, samples: number): void {
    if (this.#made < 0) return;
    const fade = Math.min(samples, this.#samples(CROSS_FADE_MS));
    for (let i = 0; i < fade; i++) {
      const share = (i + 1) / (fade + 1);
      line[tail + i] = Math.round(share * line[tail + i]! + (1 - share) * this.#next());
    }
    this.#made = -1;
  }

  #begin(line: Int16Array, tail: number, holdMs: number, endMs: number): void {
    const likeness = this.#likeness;
    likeness.search(line, tail - likeness.window, -1);
    const period = likeness.likeness < PERIODIC ? likeness.mostLag : likeness.lag;
    const blend = period >> 2;
    for (let i = 0; i < period; i++) {
      const share = Math.max(0, (i - (period - blend) + 1) / (blend + 1));
      this.#loop[i] = (1 - share) * line[tail - period + i]! + share * line[tail - 2 * period + i]!;
    }
    this.#period = period;
    this.#made = 0;
    this.#hold = this.#samples(holdMs);
    this.#end = this.#samples(endMs);
    // The loop begins one period ago: what is off between then and now is taken back bit by bit.
    this.#offset = line[tail - 1]! - line[tail - period - 1]!;
  }

  #next(): number {
    const at = this.#made++;
    if (at >= this.#end) return 0;
    const gain = at < this.#hold ? 1 : (this.#end - at) / (this.#end - this.#hold);
    const offset = at < this.#period ? this.#offset * (1 - at / this.#period) : 0;
    return Math.max(-32768, Math.min(32767, Math.round(gain * (this.#loop[at % this.#period]! + offset))));
  }

  #samples(ms: number): number {
    return (ms * this.#sampleRate) / 1000;
  }
}
