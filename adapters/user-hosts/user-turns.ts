import { Lanes } from "../../src/base/lanes.ts";

/** Limits of {@link UserTurns}. */
export interface UserTurnsLimits {
  /** Maximum number of running jobs, of all users. */
  readonly maxRunning: number;
  /** Maximum number of running jobs of one user. */
  readonly maxRunningPerUser: number;
  /** Maximum number of jobs of one user that wait for a turn. */
  readonly maxWaitingPerUser: number;
}

/** A job that waits for its turn. */
interface Waiting {
  readonly user: string;
  begin(): void;
}

/** Turns for the jobs of several users: each has its own share, and free turns rotate among the waiting users. */
export class UserTurns {
  readonly #limits: UserTurnsLimits;
  readonly #waiting = new Lanes<Waiting>();
  /** Number of running jobs of each user with any. */
  readonly #byUser = new Map<string, number>();
  #running = 0;

  constructor(limits: UserTurnsLimits) {
    this.#limits = limits;
  }

  /**
   * Waits for a turn, and returns an idempotent function that ends it.
   * @throws the signal's reason, or an error if too many jobs of this user wait already
   */
  async take(user: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const { maxWaitingPerUser } = this.#limits;
    if (this.#waiting.sizeOf(user) >= maxWaitingPerUser)
      throw new Error(`too many lookups wait (at most ${maxWaitingPerUser})`);
    await new Promise<void>((begin, refuse) => {
      const aborted = (): void => {
        this.#waiting.remove(user, waiting);
        refuse(signal.reason);
      };
      const waiting: Waiting = {
        user,
        begin: () => {
          signal.removeEventListener("abort", aborted);
          begin();
        },
      };
      signal.addEventListener("abort", aborted, { once: true });
      this.#waiting.add(user, waiting);
      this.#grant();
    });
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#count(user, -1);
      this.#grant();
    };
  }

  #grant(): void {
    const { maxRunning, maxRunningPerUser } = this.#limits;
    while (this.#running < maxRunning) {
      const next = this.#waiting.take((user) => (this.#byUser.get(user) ?? 0) < maxRunningPerUser);
      if (next === undefined) return;
      this.#count(next.user, 1);
      next.begin();
    }
  }

  #count(user: string, change: 1 | -1): void {
    this.#running += change;
    const running = (this.#byUser.get(user) ?? 0) + change;
    if (running > 0) this.#byUser.set(user, running);
    else this.#byUser.delete(user);
  }
}
