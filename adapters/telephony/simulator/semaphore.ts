/** Runs a limited number of tasks at a time; the others wait in line. */
export class Semaphore {
  #permits: number;
  readonly #queue: (() => void)[] = [];

  /** @param limit maximum number of tasks at a time */
  constructor(limit: number) {
    this.#permits = limit;
  }

  /** Runs the task once a place is free; settles like the task. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#permits > 0) this.#permits--;
    else
      await new Promise<void>((resolve) => {
        this.#queue.push(resolve);
      });
    try {
      return await task();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#permits++;
      else next(); // passes its place to the next task
    }
  }
}
