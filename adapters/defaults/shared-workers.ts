import type { EmbeddedWorkers } from "./worker-pool.ts";

/** A pool shared by all its users; it is closed once the last one has released it. */
export type SharedPool<Pool> = () => Promise<{ readonly pool: Pool; release(): Promise<void> }>;

/** Shares a pool, which is created on first use. */
export function sharedPool<Pool extends { close(): void | Promise<void> }>(
  make: () => Promise<Pool>,
): SharedPool<Pool> {
  let pool: Promise<Pool> | undefined;
  let userCount = 0;
  return async () => {
    userCount++;
    pool ??= make();
    const openPool = await pool;
    return { pool: openPool, release: async () => (--userCount === 0 ? openPool.close() : undefined) };
  };
}

export type SharedWorkers = SharedPool<EmbeddedWorkers>;

export const sharedWorkers = (): SharedWorkers =>
  sharedPool(async () => {
    const { embeddedWorkers } = await import("./worker-pool.ts");
    // Any number of calls may wait for their message; the HTTP API limits uploads.
    return embeddedWorkers({ maxWaiting: 100_000 });
  });

/** Returns a function that runs the steps once, no matter how many times it is called. */
export function closeOnce(...steps: readonly (() => Promise<void>)[]): () => Promise<void> {
  let closePromise: Promise<void> | undefined;
  return () => {
    closePromise ??= (async () => {
      for (const step of steps) await step();
    })();
    return closePromise;
  };
}
