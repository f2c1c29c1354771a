import { availableParallelism } from "node:os";
import { Queue } from "../../src/base/queue.ts";
import { RoundRobinQueue } from "../../src/base/round-robin-queue.ts";
import { type Job, type JobTable, PoolError } from "./job.ts";
import { type PendingJob, WorkerSlot } from "./worker-slot.ts";

/** Options of {@link WorkerPool}. */
export interface WorkerPoolOptions {
  /**
   * Maximum number of worker threads. Default: 2, or 1 on a machine with one core. Each costs about 100 MB once warm.
   */
  readonly size?: number | undefined;
  /** Maximum number of jobs that may wait for a worker before another is refused. Default: 256. */
  readonly maxWaiting?: number | undefined;
  /** Time without a job after which a worker ends, ms; its memory is free then. Default: 300,000. */
  readonly idleMs?: number | undefined;
  /** The file that the workers run; it calls `serveJobs`. */
  readonly entry: URL;
  /** Kinds of jobs that leave one of several workers to the other kinds. Default: none. */
  readonly leaveOneFree?: ReadonlySet<string> | undefined;
}

/** Options of {@link WorkerPool.run}. */
export interface RunOptions {
  /** Stops the job, whether it waits or runs; the iteration then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Time for which the job may run without a piece before its worker is ended, ms. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Buffers of the job that move to the worker instead of being copied; they are empty afterwards. */
  readonly transfer?: readonly ArrayBuffer[] | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_IDLE_MS = 300_000;

/**
 * Worker threads for work that would block the thread that carries audio. Runs on Node, Bun and Deno.
 *
 * Workers start when first needed, do one job at a time and stay warm for a while. Kinds of jobs take turns when more
 * wait than there are workers. The next job replaces a worker that crashed or did not return from its job. An idle pool
 * does not keep the process alive.
 */
export class WorkerPool<Jobs extends JobTable<Jobs>> {
  /** Number of jobs that run at the same time. */
  readonly size: number;
  readonly #maxWaiting: number;
  readonly #idleMs: number;
  readonly #entry: URL;
  readonly #leaveOneFree: ReadonlySet<string>;
  readonly #slots = new Set<WorkerSlot>();
  readonly #queue = new RoundRobinQueue<PendingJob>();
  #lastId = 0;
  #closePromise: Promise<void> | undefined;

  constructor(options: WorkerPoolOptions) {
    this.size = Math.max(1, options.size ?? Math.min(2, availableParallelism()));
    this.#maxWaiting = options.maxWaiting ?? 256;
    this.#idleMs = options.idleMs ?? DEFAULT_IDLE_MS;
    this.#entry = options.entry;
    this.#leaveOneFree = options.leaveOneFree ?? new Set();
  }

  /**
   * Runs a job and yields its pieces as they arrive. The job starts with the first `next()`, and leaving the loop stops
   * it.
   * @throws {PoolError} or the signal's reason
   */
  async *run<K extends keyof Jobs & string>(
    job: Job<Jobs, K>,
    options: RunOptions = {},
  ): AsyncGenerator<Jobs[K]["piece"], void> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#closePromise) throw new PoolError("closed", "the worker pool is closed");
    if (this.#queue.size >= this.#maxWaiting) {
      throw new PoolError("overloaded", `${this.#queue.size} jobs are waiting for a worker; try again later`);
    }

    const pieces = new Queue<Jobs[K]["piece"]>();
    const pendingJob: PendingJob = {
      id: ++this.#lastId,
      queueKey: job.kind,
      job,
      transfer: options.transfer ?? [],
      timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      pieces: pieces as Queue<unknown>,
    };
    const abandon = (): void => {
      pieces.close();
      if (this.#queue.remove(pendingJob.queueKey, pendingJob)) return;
      for (const slot of this.#slots) if (slot.has(pendingJob)) slot.cancel();
    };
    const abort = (): void => {
      pieces.fail(signal?.reason);
      abandon();
    };
    signal?.addEventListener("abort", abort, { once: true });
    this.#queue.add(pendingJob.queueKey, pendingJob);
    this.#assign();
    try {
      for await (const piece of pieces) {
        // Pieces that arrived before an abort are useless after it.
        signal?.throwIfAborted();
        yield piece;
      }
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener("abort", abort);
      abandon();
    }
  }

  /** Ends all workers; pending and running jobs fail. Resolves when the threads have exited. Idempotent. */
  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  async #close(): Promise<void> {
    const closedError = new PoolError("closed", "the worker pool is closed");
    for (let pending = this.#queue.take(); pending; pending = this.#queue.take()) pending.pieces.fail(closedError);
    await Promise.all([...this.#slots].map((slot) => slot.stop(closedError)));
  }

  /**
   * Assigns waiting jobs to idle workers: preferably a worker that has done such a job, then any worker, then a new
   * worker.
   */
  #assign(): void {
    while (this.#queue.size > 0) {
      const idleSlots = [...this.#slots].filter((slot) => slot.isIdle);
      if (idleSlots.length === 0 && this.#slots.size >= this.size) return;
      const limitedCount = [...this.#slots].filter(
        ({ kind }) => kind !== undefined && this.#leaveOneFree.has(kind),
      ).length;
      const hasRoom = limitedCount < Math.max(1, this.size - 1);
      const pending = this.#queue.take((kind) => hasRoom || !this.#leaveOneFree.has(kind));
      if (pending === undefined) return;
      const slot =
        idleSlots.find((candidate) => candidate.isWarmFor(pending.job.kind)) ?? idleSlots[0] ?? this.#startWorker();
      slot.start(pending);
    }
  }

  #startWorker(): WorkerSlot {
    const slot: WorkerSlot = new WorkerSlot(
      { entry: this.#entry, idleMs: this.#idleMs },
      () => this.#assign(),
      () => {
        this.#slots.delete(slot);
        if (!this.#closePromise) this.#assign();
      },
    );
    this.#slots.add(slot);
    return slot;
  }
}
