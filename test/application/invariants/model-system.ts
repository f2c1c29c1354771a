import { nextTurn } from "../../../src/base/turn-budget.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

let workingCount = 0;

/** Counts running cryptographic operations, which use other threads: a run settles only after they have finished. */
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

/** A run's time, independent of its processes. */
export class ModelClock extends ManualSystem {
  override async settle(): Promise<void> {
    await super.settle();
    while (workingCount > 0) {
      while (workingCount > 0) await nextTurn();
      await super.settle();
    }
  }
}

/** A process's clock, with a separate wall clock. No timer fires while the process is stopped, or after its death. */
export class ModelSystem extends ManualSystem {
  readonly #clock: ModelClock;
  readonly #startedAt: number;
  /** Functions that cancel the pending timers. */
  readonly #timers = new Set<() => void>();
  /** Queued work of a stopped process, in order of arrival. */
  #queuedWork: (() => void)[] | undefined;
  #onResume: () => void = () => {};
  #resumePromise: Promise<void> | undefined;
  #isDead = false;
  #stoppedAt = 0;
  /** Time for which the monotonic clock was stopped, ms. */
  #monotonicStoppedMs = 0;
  /** Lead of the wall clock, ms. */
  #aheadMs = 0;
  /** Total time for which the process was stopped, ms. */
  stoppedMs = 0;

  constructor(clock: ModelClock, options: { readonly seed: number; readonly now?: number }) {
    super(options);
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  /** True while the process is stopped (SIGSTOP). */
  get isStopped(): boolean {
    return this.#queuedWork !== undefined;
  }

  kill(): void {
    this.#isDead = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  /** Stops the process, which does nothing until it is resumed, while time passes. */
  stop(): void {
    if (this.#queuedWork) return;
    this.#queuedWork = [];
    this.#stoppedAt = this.#clock.monotonic();
    this.#resumePromise = new Promise((resolve) => {
      this.#onResume = resolve;
    });
  }

  /** Resumes a stopped process: the work queued during the stop runs immediately, in order of arrival or reversed. */
  resume(order: "forwards" | "backwards"): void {
    const queuedWork = this.#queuedWork ?? [];
    if (this.#queuedWork) this.stoppedMs += this.#clock.monotonic() - this.#stoppedAt;
    this.#queuedWork = undefined;
    for (const run of order === "forwards" ? queuedWork : queuedWork.reverse()) if (!this.#isDead) run();
    this.#onResume();
  }

  /** Stops the monotonic clock, but not the wall clock, for part of the process's stop. */
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
    while (this.#queuedWork) await this.#resumePromise;
  }

  override now(): number {
    return super.now() + Math.floor(this.monotonic());
  }

  override monotonic(): number {
    return this.#clock.monotonic() - this.#startedAt - this.#monotonicStoppedMs;
  }

  override after(ms: number, run: () => void): () => void {
    let isDone = this.#isDead;
    if (isDone) return () => {};
    const dueAt = this.monotonic() + Math.max(0, ms);
    const cancel = () => {
      isDone = true;
      cancelTimer();
      this.#timers.delete(cancel);
    };
    const fire = () => {
      if (isDone) return; // cancelled by other work of the stopped process
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
