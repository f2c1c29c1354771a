import type { EmbeddedWorkers } from "./worker-pool.ts";

/** A pool shared by all its users; it is closed when the last one has released it. */
export type SharedWorkers = () => Promise<{ pool: EmbeddedWorkers; release(): Promise<void> }>;

/** The pool is made on first use. */
export function sharedWorkers(): SharedWorkers {
  let pool: EmbeddedWorkers | undefined;
  let users = 0;
  return async () => {
    const { embeddedWorkers } = await import("./worker-pool.ts");
    // Any number of calls may wait for their message; uploads are bounded at the HTTP interface.
    pool ??= embeddedWorkers({ maxWaiting: 100_000 });
    const shared = pool;
    users++;
    return { pool: shared, release: async () => (--users === 0 ? shared.close() : undefined) };
  };
}

/** Runs the steps once, however many times it is called. */
export function closing(...steps: readonly (() => Promise<void>)[]): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= (async () => {
      for (const step of steps) await step();
    })();
    return closed;
  };
}
