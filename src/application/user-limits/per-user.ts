import { Refusal } from "../../domain/refusal.ts";

/** Limits the concurrent work of each user, or of another subject with an id. */
export class PerUser {
  readonly #maxConcurrent: number;
  readonly #byUser = new Map<string, number>();

  constructor(maxConcurrent: number) {
    this.#maxConcurrent = maxConcurrent;
  }

  /**
   * Runs work for a user in one of the user's slots.
   * @param busyText detail of the refusal if all slots are taken
   * @throws {Refusal} `server_busy`
   */
  async run<T>(userId: string, busyText: string, work: () => Promise<T>): Promise<T> {
    const release = this.take(userId);
    if (!release) throw new Refusal("server_busy", busyText);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Takes one of the user's slots; returns a function that releases it, or undefined if all are taken. */
  take(userId: string): (() => void) | undefined {
    const count = this.#byUser.get(userId) ?? 0;
    if (count >= this.#maxConcurrent) return undefined;
    this.#byUser.set(userId, count + 1);
    return () => {
      const remaining = (this.#byUser.get(userId) ?? 0) - 1;
      if (remaining > 0) this.#byUser.set(userId, remaining);
      else this.#byUser.delete(userId);
    };
  }
}
