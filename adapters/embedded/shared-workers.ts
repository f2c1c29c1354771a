import type { EmbeddedWorkers } from "./worker-pool.ts";

/** One pool for all who ask; it ends when the last of them has let go of it. */
export type SharedWorkers = () => Promise<{ pool: EmbeddedWorkers; release(): Promise<void> }>;

/** The pool is made on first use. */
export function sharedWorkers(): SharedWorkers {
  let pool: EmbeddedWorkers | undefined;
  let users = 0;
  return async () => {
    const { embeddedWorkers } = await import("./worker-pool.ts");
    // Calls wait for their message however many there are; uploads are bounded at the HTTP interface.
    pool ??= embeddedWorkers({ maxWaiting: 100_000 });
    const shared = pool;
    users++;
    return { pool: shared, release: async () => (--users === 0 ? shared.close() : undefined) };
  };
}

/** Closes once, however often it is called. */
export function closing(...steps: readonly (() => Promise<void>)[]): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= (async () => {
      for (const step of steps) await step();
    })();
    return closed;
  };
}
