/** A piece of work that waits for a later turn. */
interface PendingWork {
  readonly cost: number;
  readonly begin: () => void;
}

/**
 * Limits work that many calls do in the same turn of the event loop: the excess waits for the next turns, first
 * come, first served, so that the frames of all calls are sent in time.
 */
export class TurnBudget {
  readonly #maxCost: number;
  #pendingWork: PendingWork[] = [];
  /** Position in `#pendingWork` of the first piece of work that has not begun. */
  #next = 0;
  #spentCost = 0;
  #isScheduled = false;

  /** @param maxCost cost of the work in one turn; a single piece may cost more */
  constructor(maxCost: number) {
    this.#maxCost = maxCost;
  }

  /** Resolves when there is room for work of this cost; returns undefined if there is room at once. */
  take(cost: number): Promise<void> | undefined {
    this.#schedule();
    if (this.#pendingWork.length === 0 && this.#hasRoom(cost)) {
      this.#spentCost += cost;
      return undefined;
    }
    return new Promise((begin) => this.#pendingWork.push({ cost, begin }));
  }

  #hasRoom(cost: number): boolean {
    return this.#spentCost === 0 || this.#spentCost + cost <= this.#maxCost;
  }

  /** Starts another turn after this one. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void nextTurn().then(() => {
      this.#isScheduled = false;
      this.#spentCost = 0;
      this.#beginPending();
    });
  }

  #beginPending(): void {
    if (this.#next < this.#pendingWork.length) this.#schedule();
    for (; this.#next < this.#pendingWork.length; this.#next++) {
      const { cost, begin } = this.#pendingWork[this.#next]!;
      if (!this.#hasRoom(cost)) break;
      this.#spentCost += cost;
      begin();
    }
    // Removing the items one by one would move all the others each time.
    if (2 * this.#next < this.#pendingWork.length) return;
    this.#pendingWork = this.#pendingWork.slice(this.#next);
    this.#next = 0;
  }
}

/** Resolves in the next turn of the event loop, after all microtasks, using the runtime's fastest timer. */
export function nextTurn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (run: () => void) => unknown };
  return new Promise((resolve) => {
    if (setImmediate) setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
