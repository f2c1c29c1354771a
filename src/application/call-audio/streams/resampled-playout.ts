import type { Playout } from "../../../audio/playout/playout.ts";
import type { PlayoutMark } from "../../../audio/playout/playout-queue.ts";
import { samplesToMs } from "../../../audio/samples/pcm.ts";
import { Resampler } from "../../../audio/samples/resample.ts";

/** Longest piece that is resampled at a time, samples: a little over 20 ms at 48 kHz. */
export const MAX_RESAMPLED_PIECE = 1024;

/** A mark that is not in the playout yet, and the output sample that it precedes. */
interface PendingMark {
  readonly at: number;
  readonly mark: PlayoutMark;
}

/**
 * Resamples audio of one rate into a {@link Playout}, as one continuous stream however it was cut; marks keep their
 * position to the sample.
 *
 * A resampler holds back its last samples, 2 ms at 8 kHz, until the next ones arrive. {@link flush} releases them when the
 * queue is about to run dry. A client that keeps pace with the leg to the sample would cause a flush between any two
 * pieces, so a stretch that starts with an empty queue is preceded by that much silence.
 */
export class ResampledPlayout {
  readonly from: number;
  readonly #playout: Playout;
  readonly #resampler: Resampler;
  readonly #output: Int16Array;
  readonly #marks: PendingMark[] = [];
  #pushed = 0;
  #produced = 0;

  /** @param from Hz @throws {RangeError} for a rate that cannot be converted */
  constructor(from: number, playout: Playout) {
    this.from = from;
    this.#playout = playout;
    this.#resampler = new Resampler(from, playout.sampleRate, MAX_RESAMPLED_PIECE);
    this.#output = new Int16Array(Math.ceil((MAX_RESAMPLED_PIECE * playout.sampleRate) / from) + 1);
  }

  /**
   * Adds at most {@link MAX_RESAMPLED_PIECE} samples.
   * @param last whether no later item has arrived yet
   */
  push(samples: Int16Array, last: boolean): void {
    if (this.#pushed === 0 && last) this.#leadIn();
    this.#pushed += samples.length;
    this.#enqueue(this.#output, this.#resampler.pushInto(samples, this.#output));
  }

  mark(mark: PlayoutMark): void {
    const at = this.#outputOf(this.#pushed);
    if (at <= this.#produced) this.#playout.mark(mark.name, mark.onReached);
    else this.#marks.push({ at, mark });
  }

  /** Flushes the samples that the resampler holds back, as if silence followed; the next piece starts another stretch. */
  flush(): void {
    if (this.#pushed === 0) return;
    const rest = this.#resampler.flush();
    this.#enqueue(rest, rest.length);
    this.#pushed = 0;
    this.#produced = 0;
  }

  #leadIn(): void {
    const { sampleRate, unheard } = this.#playout;
    const heldBack = Math.ceil((this.#resampler.heldSamples * sampleRate) / this.from);
    if (unheard < heldBack) this.#playout.silence(samplesToMs(heldBack - unheard, sampleRate));
  }

  #enqueue(samples: Int16Array, count: number): void {
    let done = 0;
    while (this.#marks.length > 0 && this.#marks[0]!.at <= this.#produced + count) {
      const { at, mark } = this.#marks.shift()!;
      const before = at - this.#produced - done;
      this.#playout.append(samples.subarray(done), before);
      this.#playout.mark(mark.name, mark.onReached);
      done += before;
    }
    this.#playout.append(done === 0 ? samples : samples.subarray(done), count - done);
    this.#produced += count;
  }

  #outputOf(pushed: number): number {
    return Math.round((pushed * this.#playout.sampleRate) / this.from);
  }
}
