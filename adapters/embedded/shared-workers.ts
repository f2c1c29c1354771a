import type { EmbeddedWorkers } from "./worker-pool.ts";

/** A pool shared by all its users; it is closed when the last user has released it. */
export type SharedWorkers = () => Promise<{ pool: EmbeddedWorkers; release(): Promise<void> }>;

/** Shares a pool that is created on first use. */
export function sharedWorkers(): SharedWorkers {
  let pool: EmbeddedWorkers | undefined;
  let users = 0;
  return async () => {
    const { embeddedWorkers } = await import("./worker-pool.ts");
    // Any number of calls may wait for their message; uploads are bounded at the HTTP interface.
    pool ??= embeddedWorkers({ maxWaiting: 100_000 });
    const sharedPool = pool;
    users++;
    return { pool: sharedPool, release: async () => (--users === 0 ? sharedPool.close() : undefined) };
  };
}

/** Runs the steps once, however many times it is called. */
export function closing(...steps: readonly (() => Promise<void>)[]): () => Promise<void> {
  let closePromise: Promise<void> | undefined;
  return () => {
    closePromise ??= (async () => {
      for (const step of steps) await step();
    })();
    return closePromise;
  };
}
