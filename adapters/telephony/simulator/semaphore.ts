/** Runs a limited number of tasks at a time; the others wait, first come, first served. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param limit maximum number of tasks at a time */
  constructor(limit: number) {
    this.#free = limit;
  }

  /** Runs the task when it is its turn; settles like the task. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next(); // hands its place to the next task
    }
  }
}
