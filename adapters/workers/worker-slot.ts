import { clearTimeout, setTimeout } from "node:timers";
import { Worker } from "node:worker_threads";
import type { Queue } from "../../src/base/queue.ts";
import { type FromWorker, PoolError, type ToWorker, type WorkerStart } from "./job.ts";

/** A job on its way through the pool. */
export interface PendingJob {
  readonly id: number;
  readonly queueKey: string;
  readonly job: { readonly kind: string };
  readonly transfer: readonly ArrayBuffer[];
  readonly timeoutMs: number;
  readonly pieces: Queue<unknown>;
}

/** Time to load the worker's code on a busy machine, ms. */
const START_TIMEOUT_MS = 30_000;
/** Time limit for a cancelled job to stop, ms: one segment of speech on a busy machine. */
const CANCEL_GRACE_MS = 2_000;

/**
 * One worker thread and its job.
 *
 * A slot lives from its construction until `onEnd`, which is called once: after a crash, a timeout, an ignored
 * cancellation, a long time without a job, or {@link stop}. In between it is idle or has one job; `onIdle` is called
 * whenever a job has ended. An idle worker does not keep the process alive.
 */
export class WorkerSlot {
  readonly #worker: Worker;
  readonly #idleMs: number;
  readonly #cancelledId = new Int32Array(new SharedArrayBuffer(4));
  readonly #onIdle: () => void;
  readonly #onEnd: () => void;
  readonly #warmKinds = new Set<string>();
  #isReady = false;
  #hasEnded = false;
  #current: PendingJob | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    { entry, idleMs }: { readonly entry: URL; readonly idleMs: number },
    onIdle: () => void,
    onEnd: () => void,
  ) {
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
    this.#onEnd = onEnd;
    const workerData: WorkerStart = { cancelledId: this.#cancelledId };
    this.#worker = new Worker(entry, { workerData, name: "ringport" });
    this.#worker.on("message", (message: FromWorker) => this.#receive(message));
    this.#worker.on("error", (error: Error) =>
      this.#lose(new PoolError("crashed", `the worker died: ${error.message}`)),
    );
    this.#worker.on("exit", (code) => this.#lose(new PoolError("crashed", `the worker exited with code ${code}`)));
    this.#worker.unref();
  }

  get isIdle(): boolean {
    return this.#current === undefined && !this.#hasEnded;
  }

  /** The kind of the current job; undefined while the worker is idle. */
  get kind(): string | undefined {
    return this.#current?.job.kind;
  }

  /** True if this worker has done such a job and therefore has its engine loaded. */
  isWarmFor(kind: string): boolean {
    return this.#warmKinds.has(kind);
  }

  has(pending: PendingJob): boolean {
    return this.#current === pending;
  }

  /** Starts a job on an idle worker. */
  start(pending: PendingJob): void {
    this.#current = pending;
    this.#worker.ref();
    this.#watch();
    const message: ToWorker = { id: pending.id, job: pending.job };
    try {
      this.#worker.postMessage(message, pending.transfer);
    } catch (error) {
      // The input could not be cloned or transferred; the worker never got it.
      pending.pieces.fail(error);
      this.#finish();
    }
  }

  /** Asks the current job to stop. A worker that does not stop is ended, and its replacement starts cold. */
  cancel(): void {
    if (this.#current === undefined || Atomics.load(this.#cancelledId, 0) === this.#current.id) return;
    Atomics.store(this.#cancelledId, 0, this.#current.id);
    this.#after(
      CANCEL_GRACE_MS,
      () => void this.stop(new PoolError("timeout", "the job did not stop after it was cancelled")),
    );
  }

  /** Ends the worker now; its job, if any, fails with `reason`. Idempotent. */
  async stop(reason: PoolError): Promise<void> {
    this.#lose(reason);
    await this.#worker.terminate();
  }

  #receive(message: FromWorker): void {
    if (message.type === "ready") {
      this.#isReady = true;
      if (this.#current && !this.#current.pieces.isClosed) this.#watch();
      return;
    }
    const current = this.#current;
    if (current === undefined || message.id !== current.id) return;
    if (message.type === "piece") {
      current.pieces.push(message.piece);
      if (!current.pieces.isClosed) this.#watch();
      return;
    }
    if (message.type === "failed") current.pieces.fail(new PoolError("failed", message.message, message.name));
    else {
      this.#warmKinds.add(current.job.kind);
      current.pieces.close();
    }
    this.#finish();
  }

  /** Restarts the timeout for the worker's next message. */
  #watch(): void {
    const ms = this.#isReady ? (this.#current?.timeoutMs ?? 0) : START_TIMEOUT_MS;
    this.#after(ms, () => void this.stop(new PoolError("timeout", `the job returned no piece within ${ms} ms`)));
  }

  #after(ms: number, run: () => void): NodeJS.Timeout {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(run, ms);
    return this.#timer;
  }

  #finish(): void {
    this.#current = undefined;
    this.#worker.unref();
    this.#after(this.#idleMs, () => void this.stop(new PoolError("closed", "the worker had no job"))).unref();
    this.#onIdle();
  }

  #lose(reason: PoolError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#current?.pieces.fail(reason);
    this.#current = undefined;
    // A worker that crashed while idle can no longer be referenced; a worker that is ending must not keep the process
    // alive.
    this.#worker.unref();
    this.#onEnd();
  }
}
