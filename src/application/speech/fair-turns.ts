import type { System } from "../../ports/system.ts";

/** A call for which work is done in slices. */
export interface Demand {
  readonly userId: string;
  readonly instanceId: string;
  /** Whether the callee has answered and listens. */
  readonly playing: boolean;
  /** What is ready and has not been played yet, ms. */
  readonly aheadMs: number;
}

/** An answered call with less than this in hand comes first, ms. */
const SCARCE_MS = 5_000;
/** A call with more than this in hand yields to all others, ms. */
const PLENTY_MS = 30_000;
/** A user who has waited this long counts as one whose call is answered, ms. */
const LONG_WAIT_MS = 2_000;

const SCARCE = 0;
const NORMAL = 1;
const PLENTY = 2;

interface Waiting {
  readonly demand: Demand;
  /** By the monotonic clock, ms. */
  readonly since: number;
  readonly begin: () => void;
}

interface Share {
  /** The number of the latest turn; of a newcomer, between the turns before and after its arrival. */
  turn: number;
  /** Turns that it waits for or has. */
  open: number;
}

/**
 * Shares a number of places among users, and each user's turns among that user's instances. A turn is one slice of work.
 *
 * Answered calls with little in hand come first, calls with plenty in hand last. Among equals the user whose latest turn
 * is longest ago is next; of that user's calls, the most urgent, then the instance whose turn is longest ago, then the
 * one that waits longest. A user waits no longer than `LONG_WAIT_MS` and one slice of every other user.
 */
export class FairTurns {
  readonly #system: System;
  readonly #places: number;
  readonly #waiting = new Set<Waiting>();
  /** By user, and by user and instance; only of those who wait or work. */
  readonly #shares = new Map<string, Share>();
  #working = 0;
  #turns = 0;

  /** @param places how many slices are worked on at once */
  constructor(system: System, places: number) {
    this.#system = system;
    this.#places = Math.max(1, places);
  }

  /**
   * Resolves when it is the turn of the demand, with a function that ends the turn; twice is fine.
   * @throws the signal's reason
   */
  take(demand: Demand, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const withdraw = () => {
        this.#waiting.delete(waiting);
        this.#leave(demand);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        demand,
        since: this.#system.monotonic(),
        begin: () => {
          signal.removeEventListener("abort", withdraw);
          resolve(this.#begin(demand));
        },
      };
      signal.addEventListener("abort", withdraw, { once: true });
      for (const key of keysOf(demand)) this.#enter(key);
      this.#waiting.add(waiting);
      this.#assign();
    });
  }

  #begin(demand: Demand): () => void {
    this.#working++;
    this.#turns++;
    for (const key of keysOf(demand)) this.#shares.get(key)!.turn = this.#turns;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#working--;
      this.#leave(demand);
      this.#assign();
    };
  }

  #enter(key: string): void {
    const share = this.#shares.get(key);
    if (share) share.open++;
    else this.#shares.set(key, { turn: this.#turns - 0.5, open: 1 });
  }

  #leave(demand: Demand): void {
    for (const key of keysOf(demand)) if (--this.#shares.get(key)!.open === 0) this.#shares.delete(key);
  }

  #assign(): void {
    while (this.#working < this.#places) {
      const next = this.#next();
      if (!next) return;
      this.#waiting.delete(next);
      next.begin();
    }
  }

  #next(): Waiting | undefined {
    const late = this.#system.monotonic() - LONG_WAIT_MS;
    const first = this.#least(this.#waiting, ({ demand, since }) => {
      const urgency = urgencyOf(demand);
      return [urgency === NORMAL && since <= late ? SCARCE : urgency, this.#turnOf(demand.userId)];
    });
    if (!first || this.#waiting.size === 1) return first;
    const { userId } = first.demand;
    const own = [...this.#waiting].filter(({ demand }) => demand.userId === userId);
    return this.#least(own, ({ demand }) => [urgencyOf(demand), this.#turnOf(instanceKey(demand))]);
  }

  /** The one of the lowest rank; of equals, the one that waits longest. */
  #least(all: Iterable<Waiting>, rankOf: (waiting: Waiting) => readonly [number, number]): Waiting | undefined {
    let best: Waiting | undefined;
    let [urgency, turn] = [Infinity, Infinity];
    for (const waiting of all) {
      const rank = rankOf(waiting);
      if (rank[0] > urgency || (rank[0] === urgency && rank[1] >= turn)) continue;
      best = waiting;
      [urgency, turn] = rank;
    }
    return best;
  }

  #turnOf(key: string): number {
    return this.#shares.get(key)?.turn ?? 0;
  }
}

function urgencyOf({ playing, aheadMs }: Demand): number {
  if (playing && aheadMs < SCARCE_MS) return SCARCE;
  return aheadMs > PLENTY_MS ? PLENTY : NORMAL;
}

function keysOf(demand: Demand): readonly [user: string, instance: string] {
  return [demand.userId, instanceKey(demand)];
}

function instanceKey({ userId, instanceId }: Demand): string {
  return `${userId} ${instanceId}`;
}
