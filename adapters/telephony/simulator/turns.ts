/** Lets so much work go on at a time; the rest waits, first come, first served. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param most how much may go on at a time */
  constructor(most: number) {
    this.#free = most;
  }

  /** Does the work when its turn has come; answers what it answers. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next(); // the turn is handed on
    }
  }
}
