import { nextTurn } from "../../../base/turn-budget.ts";
import type { System } from "../../../ports/system.ts";
import { type Share, SteadyTurns } from "./steady-turns.ts";

/** A call whose work is split into slices. */
export interface Demand {
  readonly userId: string;
  readonly instanceId: string;
  /** True if the callee has answered. */
  readonly isPlaying: boolean;
  /** Length of the audio that is ready and has not been played yet, ms. */
  readonly aheadMs: number;
  /** True if neither `isPlaying` nor `aheadMs` changes while the demand waits for a turn. Default: false. */
  readonly isSteady?: boolean;
  /** Called at the start of each turn. */
  begin?(): void;
}

/** Length of ready audio below which an answered call is served first, ms. */
const SCARCE_MS = 5_000;
/** Length of ready audio above which a call yields to all others, ms. */
const PLENTY_MS = 30_000;
/**
 * Maximum number of turns in one turn of the event loop: cached texts take no time, but audio must not wait for them.
 */
const MAX_TURNS_PER_TICK = 32;
/** Maximum time in one turn of the event loop, ms: thousands of calls may wait, and each is compared. */
const MAX_TICK_MS = 2;
/** Wait after which a user gets the priority of answered calls, ms. */
const LONG_WAIT_MS = 2_000;

const SCARCE = 0;
const NORMAL = 1;
const PLENTY = 2;

interface PendingTurn {
  readonly demand: Demand;
  readonly user: Share;
  readonly instance: Share;
  /** Time at which it was enqueued, on the monotonic clock, ms. */
  readonly enqueuedAt: number;
  readonly begin: () => void;
}

/**
 * Shares a number of concurrent turns among users, and each user's turns among their instances. A turn is one slice of
 * work.
 *
 * Answered calls with little audio ready are served first, calls with plenty last. Among equals, the user whose latest
 * turn is longest ago goes first; among that user's calls, the most urgent call, then the instance whose latest turn is
 * longest ago, then the call that has waited longest. A user waits no longer than `LONG_WAIT_MS` plus one slice of
 * every other user.
 */
export class FairTurns {
  readonly #system: System;
  readonly #concurrency: number;
  /** Waiting turns whose urgency may change. */
  readonly #changingTurns = new Set<PendingTurn>();
  /** The other waiting turns, by user; all have the normal urgency. */
  readonly #steadyTurns = new Map<Share, SteadyTurns<PendingTurn>>();
  /** Shares by user, and by user and instance; only those with open turns. */
  readonly #shares = new Map<string, Share>();
  #runningTurnCount = 0;
  #latestTurn = 0;
  /** Number of turns that started in this turn of the event loop. */
  #turnsStarted = 0;
  /** Time at which the first of them started, on the monotonic clock, ms. */
  #firstStartedAt = 0;

  /** @param concurrency maximum number of concurrent turns */
  constructor(system: System, concurrency: number) {
    this.#system = system;
    this.#concurrency = Math.max(1, concurrency);
  }

  /**
   * Resolves when the demand gets its turn, with an idempotent function that ends it. An aborted signal withdraws the
   * demand, or ends its turn.
   * @throws the signal's reason
   */
  take(demand: Demand, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const withdraw = () => {
        this.#remove(turn);
        this.#leave(turn);
        reject(signal.reason);
      };
      const turn: PendingTurn = {
        demand,
        user: this.#enter(demand.userId),
        instance: this.#enter(`${demand.userId} ${demand.instanceId}`),
        enqueuedAt: this.#system.monotonic(),
        begin: () => {
          signal.removeEventListener("abort", withdraw);
          resolve(this.#begin(turn, signal));
        },
      };
      signal.addEventListener("abort", withdraw, { once: true });
      this.#add(turn);
      this.#assign();
    });
  }

  #add(turn: PendingTurn): void {
    const { demand, user } = turn;
    if (!demand.isSteady || urgencyOf(demand) !== NORMAL) {
      this.#changingTurns.add(turn);
      return;
    }
    const userTurns = this.#steadyTurns.get(user) ?? new SteadyTurns();
    this.#steadyTurns.set(user, userTurns);
    userTurns.add(turn);
  }

  #remove(turn: PendingTurn): void {
    if (this.#changingTurns.delete(turn)) return;
    const userTurns = this.#steadyTurns.get(turn.user);
    userTurns?.delete(turn);
    if (userTurns && !userTurns.oldest) this.#steadyTurns.delete(turn.user);
  }

  #begin(turn: PendingTurn, signal: AbortSignal): () => void {
    this.#runningTurnCount++;
    turn.user.latestTurn = turn.instance.latestTurn = ++this.#latestTurn;
    turn.demand.begin?.();
    let isEnded = false;
    const end = () => {
      if (isEnded) return;
      isEnded = true;
      signal.removeEventListener("abort", end);
      this.#runningTurnCount--;
      this.#leave(turn);
      this.#assign();
    };
    signal.addEventListener("abort", end);
    return end;
  }

  #enter(key: string): Share {
    const share = this.#shares.get(key) ?? { key, latestTurn: ++this.#latestTurn, openTurns: 0 };
    this.#shares.set(key, share);
    share.openTurns++;
    return share;
  }

  #leave({ user, instance }: PendingTurn): void {
    for (const share of [user, instance]) if (--share.openTurns === 0) this.#shares.delete(share.key);
  }

  #assign(): void {
    while (this.#runningTurnCount < this.#concurrency && this.#changingTurns.size + this.#steadyTurns.size > 0) {
      const now = this.#system.monotonic();
      if (
        this.#turnsStarted === MAX_TURNS_PER_TICK ||
        (this.#turnsStarted > 0 && now - this.#firstStartedAt >= MAX_TICK_MS)
      )
        return; // continued below
      if (this.#turnsStarted++ === 0) {
        this.#firstStartedAt = now;
        void nextTurn().then(() => {
          this.#turnsStarted = 0;
          this.#assign();
        });
      }
      const next = this.#nextTurn();
      this.#remove(next);
      next.begin();
    }
  }

  /** The next of the waiting turns; at least one must wait. */
  #nextTurn(): PendingTurn {
    const overdueBefore = this.#system.monotonic() - LONG_WAIT_MS;
    const best: { turn?: PendingTurn; rank: number; urgency: number } = { rank: Infinity, urgency: Infinity };
    const consider = (turn: PendingTurn, urgency: number, enqueuedAt: number): void => {
      const rank = urgency === NORMAL && enqueuedAt <= overdueBefore ? SCARCE : urgency;
      const order =
        rank - best.rank ||
        turn.user.latestTurn - (best.turn?.user.latestTurn ?? 0) ||
        urgency - best.urgency ||
        turn.instance.latestTurn - (best.turn?.instance.latestTurn ?? 0);
      if (order < 0) Object.assign(best, { turn, rank, urgency });
    };
    for (const turn of this.#changingTurns) consider(turn, urgencyOf(turn.demand), turn.enqueuedAt);
    // A user has waited as long as their oldest turn.
    for (const { next: turn, oldest } of this.#steadyTurns.values())
      if (turn && oldest) consider(turn, NORMAL, oldest.enqueuedAt);
    return best.turn!;
  }
}

function urgencyOf({ isPlaying, aheadMs }: Demand): number {
  if (isPlaying && aheadMs < SCARCE_MS) return SCARCE;
  return aheadMs > PLENTY_MS ? PLENTY : NORMAL;
}
