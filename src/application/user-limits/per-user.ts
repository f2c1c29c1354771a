/** Limits the concurrent work of each user, or of another subject with an id. */
export class PerUser {
  readonly #most: number;
  readonly #byUser = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a place of the user, and returns what gives it back; undefined if all are taken. */
  take(userId: string): (() => void) | undefined {
    const count = this.#byUser.get(userId) ?? 0;
    if (count >= this.#most) return undefined;
    this.#byUser.set(userId, count + 1);
    return () => {
      const left = (this.#byUser.get(userId) ?? 0) - 1;
      if (left > 0) this.#byUser.set(userId, left);
      else this.#byUser.delete(userId);
    };
  }
}
