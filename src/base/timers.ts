/** Timers, as the `System` port provides them. */
export interface Timers {
  /** Calls `run` once after `ms`; the result cancels it. */
  after(ms: number, run: () => void): () => void;
}
