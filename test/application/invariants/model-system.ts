import { nextTurn } from "../../../src/base/turn-budget.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

let workingCount = 0;

/** Counts running cryptography, which uses other threads: a run is at rest only when it has finished. */
function countCryptography(): void {
  const subtleCrypto = crypto.subtle as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of ["encrypt", "decrypt", "digest", "importKey", "deriveKey", "sign", "verify"]) {
    const original = subtleCrypto[name]!.bind(subtleCrypto);
    const countedCall = async (...args: unknown[]) => {
      workingCount++;
      try {
        return await original(...args);
      } finally {
        workingCount--;
      }
    };
    Object.defineProperty(subtleCrypto, name, { value: countedCall, configurable: true });
  }
}
countCryptography();

/** The time of a run, independent of its processes. */
export class ModelClock extends ManualSystem {
  override async settle(): Promise<void> {
    await super.settle();
    while (workingCount > 0) {
      while (workingCount > 0) await nextTurn();
      await super.settle();
    }
  }
}

/** The clock of one process, with a separate wall clock. No timer fires once it is dead, or while it is stopped. */
export class ModelSystem extends ManualSystem {
  readonly #clock: ModelClock;
  readonly #startedAt: number;
  /** Cancels the pending timers. */
  readonly #timers = new Set<() => void>();
  /** Queued work of a stopped process, in order of arrival. */
  #queuedWork: (() => void)[] | undefined;
  #onResume: () => void = () => {};
  #resuming: Promise<void> | undefined;
  #isDead = false;
  #stoppedAt = 0;
  /** Time for which its monotonic clock was stopped, ms. */
  #monotonicStoppedMs = 0;
  /** Lead of its wall clock, ms. */
  #aheadMs = 0;
  /** Total time for which it was stopped, ms. */
  stoppedMs = 0;

  constructor(clock: ModelClock, options: { readonly seed: number; readonly now?: number }) {
    super(options);
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  /** True while it is stopped (SIGSTOP). */
  get isStopped(): boolean {
    return this.#queuedWork !== undefined;
  }

  kill(): void {
    this.#isDead = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  /** Stops the process: it does nothing until it resumes, while time passes. */
  stop(): void {
    if (this.#queuedWork) return;
    this.#queuedWork = [];
    this.#stoppedAt = this.#clock.monotonic();
    this.#resuming = new Promise((resolve) => {
      this.#onResume = resolve;
    });
  }

  /** Lets a stopped process continue: all work that was due or arrived during the stop happens at once, in this order or reversed. */
  resume(order: "forwards" | "backwards"): void {
    const queuedWork = this.#queuedWork ?? [];
    if (this.#queuedWork) this.stoppedMs += this.#clock.monotonic() - this.#stoppedAt;
    this.#queuedWork = undefined;
    for (const run of order === "forwards" ? queuedWork : queuedWork.reverse()) if (!this.#isDead) run();
    this.#onResume();
  }

  /** Subtracts the time of the stop from the monotonic clock of a stopped process; the wall clock keeps it. */
  stopMonotonic(ms: number): void {
    this.#monotonicStoppedMs += ms;
    super.jump(ms);
  }

  override jump(ms: number): void {
    this.#aheadMs += ms;
    super.jump(ms);
  }

  /** Corrects the wall clock. */
  correct(): void {
    this.jump(-this.#aheadMs);
  }

  /** Runs now, or when the stopped process resumes. */
  whenRunning(run: () => void): void {
    if (this.#queuedWork) this.#queuedWork.push(run);
    else if (!this.#isDead) run();
  }

  /** Resolves when the process is not stopped. */
  async waitUntilRunning(): Promise<void> {
    while (this.#queuedWork) await this.#resuming;
  }

  override now(): number {
    return super.now() + Math.floor(this.monotonic());
  }

  override monotonic(): number {
    return this.#clock.monotonic() - this.#startedAt - this.#monotonicStoppedMs;
  }

  override after(ms: number, run: () => void): () => void {
    let hasFired = this.#isDead;
    if (hasFired) return () => {};
    const dueAt = this.monotonic() + Math.max(0, ms);
    const cancel = () => {
      hasFired = true;
      cancelTimer();
      this.#timers.delete(cancel);
    };
    const fire = () => {
      if (hasFired) return; // cancelled by other work of the stopped process
      const remainingMs = dueAt - this.monotonic();
      if (remainingMs > 0) {
        cancelTimer = wait(remainingMs); // the monotonic clock was stopped
        return;
      }
      this.#timers.delete(cancel);
      run();
    };
    const wait = (remainingMs: number) => this.#clock.after(remainingMs, () => this.whenRunning(fire));
    let cancelTimer = wait(ms);
    this.#timers.add(cancel);
    return cancel;
  }

  override get waiting(): number {
    return this.#timers.size;
  }

  override advance(ms: number): Promise<void> {
    return this.#clock.advance(ms);
  }

  override settle(): Promise<void> {
    return this.#clock.settle();
  }
}
