import { Likeness } from "./likeness.ts";

/** Below this likeness a cut would be heard; it is made only in need. */
const ALIKE = 0.7;

/** Makes audio a period shorter or longer, where that is not heard: two periods blended into one, or one into two. */
export class TimeScale {
  /** Samples that must lie from `head` on. */
  readonly reach: number;
  readonly #likeness: Likeness;

  /** @param sampleRate Hz */
  constructor(sampleRate: number) {
    this.#likeness = new Likeness(sampleRate);
    this.reach = 2 * this.#likeness.mostLag + 1;
  }

  /** Takes a period out behind `head`; answers its samples, 0 where the signal does not allow it. */
  shorten(line: Int16Array, head: number, tail: number, inNeed: boolean): number {
    const period = this.#period(line, head, inNeed);
    if (period === 0) return 0;
    for (let i = 0; i < period; i++) {
      const share = (i + 1) / (period + 1);
      line[head + i] = Math.round((1 - share) * line[head + i]! + share * line[head + period + i]!);
    }
    line.copyWithin(head + period, head + 2 * period, tail);
    return period;
  }

  /** Puts a period in behind `head`; answers its samples, 0 where the signal does not allow it. There is room behind `tail`. */
  lengthen(line: Int16Array, head: number, tail: number, inNeed: boolean): number {
    const period = this.#period(line, head, inNeed);
    if (period === 0) return 0;
    line.copyWithin(head + 2 * period, head + period, tail);
    // The second period goes over into the first once more, which leads on to the second, now the third.
    for (let i = 0; i < period; i++) {
      const share = (i + 1) / (period + 1);
      const second = line[head + 2 * period + i]!;
      line[head + period + i] = Math.round((1 - share) * second + share * line[head + i]!);
    }
    return period;
  }

  #period(line: Int16Array, head: number, inNeed: boolean): number {
    this.#likeness.search(line, head, 1);
    return this.#likeness.likeness >= ALIKE || inNeed ? this.#likeness.lag : 0;
  }
}
