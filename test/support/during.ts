import type { ManualSystem } from "../../src/testing/manual-system.ts";

/** Advances time until the work is done, even while it loads a module or waits for the disk; returns its result. */
export async function advanceUntilDone<T>(system: Pick<ManualSystem, "advance">, work: Promise<T>): Promise<T> {
  let isDone = false;
  const completion = work.finally(() => {
    isDone = true;
  });
  completion.catch(() => {});
  while (!isDone) await system.advance(100);
  return await completion;
}

/** Advances time until the check holds. Throws an Error after `ms`. */
export async function passUntil(
  system: Pick<ManualSystem, "advance">,
  ms: number,
  check: () => Promise<boolean>,
): Promise<void> {
  for (let passedMs = 0; !(await check()); passedMs += 250) {
    if (passedMs >= ms) throw new Error(`the condition did not hold within ${ms} ms`);
    await system.advance(250);
  }
}
