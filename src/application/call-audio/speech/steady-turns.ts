/** The turns of a user, or of one of their instances. */
export interface Share {
  readonly key: string;
  /** Number of the latest turn, or of the arrival; it only grows. */
  latestTurn: number;
  /** Number of turns that are waiting or in progress. */
  openTurns: number;
}

/** A waiting turn. */
interface WaitingTurn {
  readonly instance: Share;
}

/** The waiting turns of an instance. */
interface Entry<Turn> {
  readonly instance: Share;
  readonly turns: Set<Turn>;
  /** The instance's `latestTurn` when the entry was placed in the heap. */
  order: number;
}

/**
 * Waiting turns of one user that are equally urgent: the next one belongs to the instance whose latest turn is longest
 * ago. Thousands may wait when a server starts, so the instances are a binary heap. Their latest turns only grow, so an
 * entry moves down when it comes to the top.
 */
export class SteadyTurns<Turn extends WaitingTurn> {
  /** In the order of their arrival. */
  readonly #turns = new Set<Turn>();
  readonly #entries = new Map<Share, Entry<Turn>>();
  readonly #heap: Entry<Turn>[] = [];

  /** The turn that has waited longest. */
  get oldest(): Turn | undefined {
    for (const turn of this.#turns) return turn;
    return undefined;
  }

  add(turn: Turn): void {
    this.#turns.add(turn);
    const { instance } = turn;
    const entry = this.#entries.get(instance);
    if (entry) {
      entry.turns.add(turn);
      return;
    }
    const newEntry = { instance, turns: new Set([turn]), order: instance.latestTurn };
    this.#entries.set(instance, newEntry);
    this.#heap.push(newEntry);
    this.#moveUp(this.#heap.length - 1);
  }

  delete(turn: Turn): void {
    this.#turns.delete(turn);
    this.#entries.get(turn.instance)?.turns.delete(turn);
  }

  /** The next turn; undefined if none waits. */
  get next(): Turn | undefined {
    for (let top = this.#heap[0]; top; top = this.#heap[0]) {
      const { instance, turns } = top;
      if (turns.size === 0) this.#removeTop();
      else if (top.order === instance.latestTurn) for (const turn of turns) return turn;
      else {
        top.order = instance.latestTurn;
        this.#moveDown(0);
      }
    }
    return undefined;
  }

  #removeTop(): void {
    const top = this.#heap[0]!;
    this.#entries.delete(top.instance);
    const last = this.#heap.pop()!;
    if (last === top) return;
    this.#heap[0] = last;
    this.#moveDown(0);
  }

  #moveUp(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (this.#heap[parent]!.order <= this.#heap[at]!.order) return;
      this.#swap(parent, at);
      at = parent;
    }
  }

  #moveDown(from: number): void {
    for (let at = from; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < this.#heap.length && this.#heap[child]!.order < this.#heap[least]!.order) least = child;
      if (least === at) return;
      this.#swap(least, at);
      at = least;
    }
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b]!, this.#heap[a]!];
  }
}
