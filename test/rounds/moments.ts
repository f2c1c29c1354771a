/** What a fault can be tied to. */
export const OCCASIONS = [
  "an INVITE",
  "a call asked for",
  "a call answered",
  "an end asked for",
  "an end answered",
  "a link asked for",
  "a link answered",
  "a deletion asked for",
  "a deletion answered",
] as const;
export type Occasion = (typeof OCCASIONS)[number];

/** A moment of a round: so long after the n-th time that something happens. */
export interface Moment {
  readonly occasion: Occasion;
  readonly nth: number;
  readonly afterMs: number;
}

/** The round goes on after this even if the occasion did not come, ms. */
const PATIENCE_MS = 900;

/** Tells when the moment of a round has come. */
export class Moments {
  #moment: Moment | undefined;
  #count = 0;
  #act: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  /** Calls `act` once at the moment: without a delay inside the very call that reports it. Resolves when `act` has been called. */
  at(moment: Moment, act: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#moment = moment;
      this.#count = 0;
      this.#act = () => {
        clearTimeout(this.#timer);
        this.#moment = undefined;
        this.#act = () => {};
        act();
        resolve();
      };
      this.#timer = setTimeout(() => this.#act(), PATIENCE_MS);
    });
  }

  happened(occasion: Occasion): void {
    if (this.#moment?.occasion !== occasion || ++this.#count !== this.#moment.nth) return;
    const { afterMs } = this.#moment;
    if (afterMs === 0) this.#act();
    else setTimeout(() => this.#act(), afterMs);
  }
}
