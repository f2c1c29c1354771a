import { samplesToMs } from "../../../audio/pcm.ts";
import type { Playout } from "../../../audio/playout.ts";
import { Resampler } from "../../../audio/resample.ts";
import type { HeldMark } from "./pending-audio.ts";

/** Longest piece that is taken in at a time, samples: 20 ms at 48 kHz and a little. */
export const LONGEST_PIECE = 1024;

/** A mark that is not in the queue yet, and the sample of the output that it comes before. */
interface Ahead {
  readonly at: number;
  readonly mark: HeldMark;
}

/**
 * One stretch of audio at a rate of its own on its way into a {@link Playout}, resampled as one continuous stream however
 * it was cut; marks keep their place to the sample.
 *
 * A resampler knows its last samples, 2 ms of them at 8 kHz, only when the next ones are there. Where the queue is about
 * to run dry, {@link flush} lets them be heard at once. So that this does not happen between any two pieces of a client who
 * keeps pace with the leg to the sample, a stretch that meets an empty queue is preceded by that much silence.
 */
export class ResampledPlayout {
  readonly from: number;
  readonly #playout: Playout;
  readonly #resampler: Resampler;
  readonly #output: Int16Array;
  readonly #ahead: Ahead[] = [];
  #pushed = 0;
  #produced = 0;

  /** @param from Hz @throws {RangeError} for a rate that cannot be converted */
  constructor(from: number, playout: Playout) {
    this.from = from;
    this.#playout = playout;
    this.#resampler = new Resampler(from, playout.sampleRate, LONGEST_PIECE);
    this.#output = new Int16Array(Math.ceil((LONGEST_PIECE * playout.sampleRate) / from) + 1);
  }

  /**
   * Takes at most {@link LONGEST_PIECE} samples.
   * @param last nothing that follows is there already
   */
  push(samples: Int16Array, last: boolean): void {
    if (this.#pushed === 0 && last) this.#leadIn();
    this.#pushed += samples.length;
    this.#enqueue(this.#output, this.#resampler.pushInto(samples, this.#output));
  }

  mark(mark: HeldMark): void {
    const at = this.#outputOf(this.#pushed);
    if (at <= this.#produced) this.#playout.mark(mark.name, mark.reached);
    else this.#ahead.push({ at, mark });
  }

  /** Gives the queue what is still held, as if silence followed; the next piece begins another stretch. */
  flush(): void {
    if (this.#pushed === 0) return;
    const rest = this.#resampler.flush();
    this.#enqueue(rest, rest.length);
    this.#pushed = 0;
    this.#produced = 0;
  }

  #leadIn(): void {
    const { sampleRate, unheard } = this.#playout;
    const kept = Math.ceil((this.#resampler.kept * sampleRate) / this.from);
    if (unheard < kept) this.#playout.silence(samplesToMs(kept - unheard, sampleRate));
  }

  #enqueue(samples: Int16Array, count: number): void {
    let done = 0;
    while (this.#ahead.length > 0 && this.#ahead[0]!.at <= this.#produced + count) {
      const { at, mark } = this.#ahead.shift()!;
      const before = at - this.#produced - done;
      this.#playout.append(samples.subarray(done), before);
      this.#playout.mark(mark.name, mark.reached);
      done += before;
    }
    this.#playout.append(done === 0 ? samples : samples.subarray(done), count - done);
    this.#produced += count;
  }

  #outputOf(pushed: number): number {
    return Math.round((pushed * this.#playout.sampleRate) / this.from);
  }
}
