import type { SampleLine } from "./sample-line.ts";
import { Similarity } from "./similarity.ts";

/** Similarity below which a cut is audible, and made only if necessary. */
const MIN_SIMILARITY = 0.7;

/** Shortens or lengthens audio by a period if that is inaudible: two periods blended into one, or one into two. */
export class TimeScale {
  /** Number of samples required after `head`. */
  readonly reach: number;
  /** Maximum number of samples that one step removes or inserts. */
  readonly maxChange: number;
  readonly #similarity: Similarity;

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#similarity = new Similarity(sampleRate);
    this.maxChange = this.#similarity.maxLag;
    this.reach = 2 * this.#similarity.maxLag + 1;
  }

  /** Removes a period after `head`; does nothing if the signal does not allow it. */
  shorten(line: SampleLine, isUrgent: boolean): void {
    const { samples, head } = line;
    const period = this.#period(samples, head, isUrgent);
    for (let i = 0; i < period; i++) {
      const share = (i + 1) / (period + 1);
      samples[head + i] = Math.round((1 - share) * samples[head + i]! + share * samples[head + period + i]!);
    }
    line.move(head + period, head + 2 * period);
  }

  /** Inserts a period after `head`; does nothing if the signal does not allow it. */
  lengthen(line: SampleLine, isUrgent: boolean): void {
    line.reserve(this.maxChange);
    const { samples, head } = line;
    const period = this.#period(samples, head, isUrgent);
    line.move(head + 2 * period, head + period);
    // Cross-fades from the second period back to the first, which continues into the moved second period.
    for (let i = 0; i < period; i++) {
      const share = (i + 1) / (period + 1);
      const second = samples[head + 2 * period + i]!;
      samples[head + period + i] = Math.round((1 - share) * second + share * samples[head + i]!);
    }
  }

  #period(samples: Int16Array, head: number, isUrgent: boolean): number {
    this.#similarity.search(samples, head, 1);
    return this.#similarity.correlation >= MIN_SIMILARITY || isUrgent ? this.#similarity.lag : 0;
  }
}
