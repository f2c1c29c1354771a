/** A piece of work that waits for a later turn. */
interface Waiting {
  readonly cost: number;
  readonly begin: () => void;
}

/**
 * Limits work that many calls do in the same turn of the event loop: the excess waits for the next turns, first
 * come, first served, so that the frames of all calls are sent in time.
 */
export class TurnBudget {
  readonly #most: number;
  #waiting: Waiting[] = [];
  /** Position in `#waiting` of the first piece of work that has not begun. */
  #next = 0;
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

  /** Starts another turn after this one. */
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
    if (this.#next < this.#waiting.length) this.#schedule();
    for (; this.#next < this.#waiting.length; this.#next++) {
      const { cost, begin } = this.#waiting[this.#next]!;
      if (!this.#hasRoom(cost)) break;
      this.#spent += cost;
      begin();
    }
    // Taking each one off the front would move all others, each time.
    if (2 * this.#next < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#next);
    this.#next = 0;
  }
}

/** Resolves in the next turn of the event loop, after all microtasks, by the fastest timer of the runtime. */
export function nextTurn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (run: () => void) => unknown };
  return new Promise((resolve) => {
    if (setImmediate) setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
