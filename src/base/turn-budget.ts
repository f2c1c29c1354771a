import { nextTurn } from "./next-turn.ts";

/** A share of the work that waits for a later turn. */
interface Waiting {
  readonly cost: number;
  readonly begin: () => void;
}

/**
 * Limits work that many calls do in the same turn of the event loop: what exceeds the limit waits for the next turns, first
 * come, first served, so that the frames of all calls are sent in time.
 */
export class TurnBudget {
  readonly #most: number;
  readonly #waiting: Waiting[] = [];
  #spent = 0;
  #scheduled = false;

  /** @param most cost of the work in one turn; a single piece may cost more */
  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves when there is room for work of this cost; undefined if there is room at once. */
  take(cost: number): Promise<void> | undefined {
    this.#schedule();
    if (this.#waiting.length === 0 && this.#hasRoom(cost)) {
      this.#spent += cost;
      return undefined;
    }
    return new Promise((begin) => this.#waiting.push({ cost, begin }));
  }

  #hasRoom(cost: number): boolean {
    return this.#spent === 0 || this.#spent + cost <= this.#most;
  }

  /** Begins another turn after this one. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    void nextTurn().then(() => {
      this.#scheduled = false;
      this.#spent = 0;
      this.#beginWaiting();
    });
  }

  #beginWaiting(): void {
    let [next] = this.#waiting;
    if (next !== undefined) this.#schedule();
    while (next !== undefined && this.#hasRoom(next.cost)) {
      this.#spent += next.cost;
      this.#waiting.shift();
      next.begin();
      [next] = this.#waiting;
    }
  }
}
