/** Occasions for a fault. */
export const OCCASIONS = [
  "an INVITE",
  "a call request",
  "a call response",
  "a hang-up request",
  "a hang-up response",
  "a link request",
  "a link response",
  "a deletion request",
  "a deletion response",
] as const;
export type Occasion = (typeof OCCASIONS)[number];

/** A moment of a round: `afterMs` after the n-th occurrence of an occasion. */
export interface Moment {
  readonly occasion: Occasion;
  readonly nth: number;
  readonly afterMs: number;
}

/** Time after which the round continues even without the occasion, ms. */
const OCCASION_TIMEOUT_MS = 900;

/** Runs an action at the planned moment of a round. */
export class Moments {
  #occasion: Occasion | undefined;
  #remainingOccurrences = 0;
  #onReached: () => void = () => {};

  /**
   * Calls `act` once at the moment; without a delay, inside the call of {@link notify}. Resolves when `act` has been
   * called.
   */
  at({ occasion, nth, afterMs }: Moment, act: () => void): Promise<void> {
    return new Promise((resolve) => {
      let isDone = false;
      const actOnce = (): void => {
        if (isDone) return;
        isDone = true;
        clearTimeout(timeout);
        this.#occasion = undefined;
        act();
        resolve();
      };
      const timeout = setTimeout(actOnce, OCCASION_TIMEOUT_MS);
      this.#occasion = occasion;
      this.#remainingOccurrences = nth;
      this.#onReached = afterMs === 0 ? actOnce : () => setTimeout(actOnce, afterMs);
    });
  }

  notify(occasion: Occasion): void {
    if (this.#occasion === occasion && --this.#remainingOccurrences === 0) this.#onReached();
  }
}
