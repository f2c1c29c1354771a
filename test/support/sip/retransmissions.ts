/** Messages that are repeated until acknowledged, as on UDP (RFC 3261: 500 ms, doubled up to 4 s, for 32 s). */
export class Retransmissions {
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #isStopped = false;

  /** Sends immediately, and repeats until the returned function is called. */
  repeat(send: () => void): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const start = performance.now();
    const stop = (): void => {
      clearTimeout(timer);
      if (timer !== undefined) this.#timers.delete(timer);
    };
    const repeatAfter = (waitMs: number): void => {
      stop();
      if (this.#isStopped || performance.now() - start > 32_000) return;
      send();
      timer = setTimeout(() => repeatAfter(Math.min(4_000, 2 * waitMs)), waitMs);
      this.#timers.add(timer);
    };
    repeatAfter(500);
    return stop;
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
