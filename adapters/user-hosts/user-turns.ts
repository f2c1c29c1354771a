/** Limits of {@link UserTurns}. */
export interface UserTurnsLimits {
  /** Maximum number of running jobs, of all users. */
  readonly maxRunning: number;
  /** Maximum number of running jobs of one user. */
  readonly maxRunningPerUser: number;
  /** Maximum number of jobs of one user that wait for a turn. */
  readonly maxWaitingPerUser: number;
}

interface UserJobs {
  running: number;
  readonly waiting: Set<() => void>;
}

/** Turns for the jobs of several users: each has a share of its own, and free turns go round the users that wait. */
export class UserTurns {
  readonly #limits: UserTurnsLimits;
  /** The users with jobs; the user that has waited longest for a turn comes first. */
  readonly #users = new Map<string, UserJobs>();
  #running = 0;

  constructor(limits: UserTurnsLimits) {
    this.#limits = limits;
  }

  /** Number of users with a job. */
  get users(): number {
    return this.#users.size;
  }

  /**
   * Waits for a turn, and returns an idempotent function that ends it.
   * @throws the signal's reason, or an error if too many jobs of this user wait already
   */
  async take(user: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const jobs = this.#users.get(user) ?? { running: 0, waiting: new Set() };
    const { maxWaitingPerUser } = this.#limits;
    if (jobs.waiting.size >= maxWaitingPerUser) throw new Error(`too many lookups wait (at most ${maxWaitingPerUser})`);
    this.#users.set(user, jobs);
    await new Promise<void>((begin, refuse) => {
      const aborted = (): void => {
        jobs.waiting.delete(turn);
        this.#forget(user, jobs);
        refuse(signal.reason);
      };
      const turn = (): void => {
        signal.removeEventListener("abort", aborted);
        begin();
      };
      signal.addEventListener("abort", aborted, { once: true });
      jobs.waiting.add(turn);
      this.#grant();
    });
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      jobs.running--;
      this.#running--;
      this.#forget(user, jobs);
      this.#grant();
    };
  }

  #grant(): void {
    const { maxRunning, maxRunningPerUser } = this.#limits;
    // Users move to the end of the map with each turn, and so come up again in this very loop.
    for (const [user, jobs] of this.#users) {
      if (this.#running >= maxRunning) return;
      const [turn] = jobs.waiting;
      if (turn === undefined || jobs.running >= maxRunningPerUser) continue;
      jobs.waiting.delete(turn);
      jobs.running++;
      this.#running++;
      this.#users.delete(user);
      this.#users.set(user, jobs);
      turn();
    }
  }

  #forget(user: string, { running, waiting }: UserJobs): void {
    if (running === 0 && waiting.size === 0) this.#users.delete(user);
  }
}
