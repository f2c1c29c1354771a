const POLL_MS = 5;

/** The result of the work; rejects with an Error that names it if it takes longer than `ms`. */
export async function settledWithin<T>(ms: number, subject: string, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${subject}: not within ${ms} ms`)), ms);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/** Resolves as soon as the condition holds; rejects with an Error that names it if it does not hold within `ms`. */
export async function until(ms: number, subject: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedAt > ms) throw new Error(`${subject}: not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
