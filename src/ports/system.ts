/** Time and randomness as arguments: all code that waits or needs random bytes takes a `System`. */
export interface System {
  /** Wall clock, ms since 1970-01-01 UTC. */
  now(): number;
  /** A clock that never jumps, ms from an arbitrary start, with fractions. */
  monotonic(): number;
  /** Fills the array with random bytes. */
  random(bytes: Uint8Array): void;
  /** Calls `run` once after `ms`; the returned function cancels it, and is idempotent. */
  after(ms: number, run: () => void): () => void;
}

/** The real clock and real random bytes, from web standards only. */
export const realSystem: System = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: (bytes) => void crypto.getRandomValues(bytes as Uint8Array<ArrayBuffer>), // the only arrays that browsers accept
  after(ms, run) {
    const timer = setTimeout(run, Math.max(0, Math.min(ms, 2 ** 31 - 1)));
    return () => clearTimeout(timer);
  },
};
