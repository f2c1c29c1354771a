import { RoundRobinQueue } from "../../src/base/round-robin-queue.ts";

/** Limits of {@link UserTurns}. */
export interface UserTurnsLimits {
  /** Maximum number of running jobs for all users together. */
  readonly maxRunning: number;
  /** Maximum number of running jobs per user. */
  readonly maxRunningPerUser: number;
  /** Maximum number of jobs per user that wait for a turn. */
  readonly maxWaitingPerUser: number;
}

/** A job that waits for its turn. */
interface WaitingJob {
  readonly user: string;
  begin(): void;
}

/** Turns for the jobs of several users: each has its own share, and free turns rotate among the waiting users. */
export class UserTurns {
  readonly #limits: UserTurnsLimits;
  readonly #queue = new RoundRobinQueue<WaitingJob>();
  /** Number of running jobs per user. */
  readonly #runningByUser = new Map<string, number>();
  #runningCount = 0;

  constructor(limits: UserTurnsLimits) {
    this.#limits = limits;
  }

  /**
   * Waits for a turn, and returns an idempotent function that ends it.
   * @throws the signal's reason, or an error if too many of this user's jobs are already waiting
   */
  async take(user: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const { maxWaitingPerUser } = this.#limits;
    if (this.#queue.sizeOf(user) >= maxWaitingPerUser)
      throw new Error(`too many lookups are waiting (at most ${maxWaitingPerUser})`);
    await new Promise<void>((begin, reject) => {
      const onAbort = (): void => {
        this.#queue.remove(user, job);
        reject(signal.reason);
      };
      const job: WaitingJob = {
        user,
        begin: () => {
          signal.removeEventListener("abort", onAbort);
          begin();
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#queue.add(user, job);
      this.#grant();
    });
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      this.#count(user, -1);
      this.#grant();
    };
  }

  #grant(): void {
    const { maxRunning, maxRunningPerUser } = this.#limits;
    while (this.#runningCount < maxRunning) {
      const next = this.#queue.take((user) => (this.#runningByUser.get(user) ?? 0) < maxRunningPerUser);
      if (next === undefined) return;
      this.#count(next.user, 1);
      next.begin();
    }
  }

  #count(user: string, change: 1 | -1): void {
    this.#runningCount += change;
    const userCount = (this.#runningByUser.get(user) ?? 0) + change;
    if (userCount > 0) this.#runningByUser.set(user, userCount);
    else this.#runningByUser.delete(user);
  }
}
