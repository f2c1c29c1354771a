import { HIGH_QUEUED_MS, LOW_QUEUED_MS, MAX_QUEUED_MS } from "./stream-client.ts";

/** A writer that waits for room. */
interface Writer {
  /** The longest queue that has room, ms. */
  readonly maxQueuedMs: number;
  readonly proceed: () => void;
}

/** Reports once that too much audio is queued, and once that the queue is short again; lets writers wait for room. */
export class QueueWatch {
  readonly #emit: (event: "buffer_high" | "buffer_low", queuedMs: number) => void;
  #isHigh = false;
  #writers: Writer[] = [];

  constructor(emit: (event: "buffer_high" | "buffer_low", queuedMs: number) => void) {
    this.#emit = emit;
  }

  /** True while the queue must be checked whenever some of it has been played. */
  get isActive(): boolean {
    return this.#isHigh || this.#writers.length > 0;
  }

  /** Starts reporting anew, to another client. */
  reset(): void {
    this.#isHigh = false;
  }

  /** Resolves when there is room for this much audio, or on {@link release}; returns undefined if there is room now. */
  waitForRoom(ms: number, queuedMs: number): Promise<void> | undefined {
    // The length of the queue has fractions: 1 ms outweighs their rounding errors.
    const maxQueuedMs = Math.max(0, MAX_QUEUED_MS - ms - 1);
    if (queuedMs <= maxQueuedMs) return undefined;
    return new Promise((proceed) => this.#writers.push({ maxQueuedMs, proceed }));
  }

  /** Lets writers continue if a queue of this length has room for them, ms. Default: all of them. */
  release(queuedMs = 0): void {
    if (this.#writers.length === 0) return;
    const writers = this.#writers;
    this.#writers = writers.filter(({ maxQueuedMs }) => maxQueuedMs < queuedMs);
    for (const { maxQueuedMs, proceed } of writers) if (maxQueuedMs >= queuedMs) proceed();
  }

  /** Compares the length of the queue with its limits, ms. */
  check(queuedMs: number): void {
    if (this.#writers.length > 0) this.release(queuedMs);
    if (!this.#isHigh && queuedMs > HIGH_QUEUED_MS) {
      this.#isHigh = true;
      this.#emit("buffer_high", queuedMs);
    } else if (this.#isHigh && queuedMs < LOW_QUEUED_MS) {
      this.#isHigh = false;
      this.#emit("buffer_low", queuedMs);
    }
  }
}
