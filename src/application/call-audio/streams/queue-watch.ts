import { HIGH_QUEUED_MS, LOW_QUEUED_MS } from "./stream-client.ts";

/** Reports once that too much audio is queued, and once that there is room again. */
export class QueueWatch {
  readonly #emit: (event: "buffer_high" | "buffer_low", queuedMs: number) => void;
  #high = false;

  constructor(emit: (event: "buffer_high" | "buffer_low", queuedMs: number) => void) {
    this.#emit = emit;
  }

  /** Whether the queue was reported as too long. */
  get high(): boolean {
    return this.#high;
  }

  /** Another client: nothing was reported to it yet. */
  reset(): void {
    this.#high = false;
  }

  /** Compares the length of the queue with its limits, ms. */
  check(queuedMs: number): void {
    if (!this.#high && queuedMs > HIGH_QUEUED_MS) {
      this.#high = true;
      this.#emit("buffer_high", queuedMs);
    } else if (this.#high && queuedMs < LOW_QUEUED_MS) {
      this.#high = false;
      this.#emit("buffer_low", queuedMs);
    }
  }
}
