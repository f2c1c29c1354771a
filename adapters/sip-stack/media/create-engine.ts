import { availableParallelism } from "node:os";
import { ClosedError, type Logger, realSystem, type System } from "../ports.ts";
import type { MediaEngine, MediaListener, MediaOptions, MediaSession, SendDeadline } from "./engine.ts";
import { createThreadEngine } from "./thread-engine.ts";
import { createWorkerEngine, type WorkerEngine } from "./worker/worker-engine.ts";

/** The thread that carries the audio of calls: the main thread, or a separate worker. */
export type MediaPlace = "thread" | "worker" | "auto";

/** Options of {@link createEngine}. */
export interface CreateEngineOptions {
  readonly system: System;
  readonly logger: Logger;
  /** Default: `auto`, a worker if there is more than one processor and the clock is real; otherwise this thread. */
  readonly place?: MediaPlace | undefined;
  /** Entry of the worker. Default: its own file. */
  readonly entry?: URL | undefined;
}

/** Minimum wait before a worker that could not be started is retried, ms. */
const RETRY_MS = 10_000;
/** Maximum number of workers that may die for a call before it runs in this thread. */
const MAX_DEATHS = 2;

/**
 * Creates the engine. A worker that dies is replaced for the next call; if none can be started, calls run in this thread and
 * a warning is logged.
 */
export async function createEngine({
  system,
  logger,
  place = "auto",
  entry,
}: CreateEngineOptions): Promise<MediaEngine> {
  const prefersThread = availableParallelism() < 2 || system !== realSystem;
  if (place === "thread" || (place === "auto" && prefersThread)) return createThreadEngine({ system });
  const engine = new RespawningWorker(system, logger, entry);
  await engine.ready();
  return engine;
}

/** Runs one worker at a time: calls end with their worker, and later calls get the next one. */
class RespawningWorker implements MediaEngine {
  readonly #system: System;
  readonly #logger: Logger;
  readonly #entry: URL | undefined;
  /** The current worker; undefined if none could be started. */
  #worker: Promise<WorkerEngine | undefined> | undefined;
  #thread: MediaEngine | undefined;
  /** Time of the next attempt to start a worker; Infinity during an attempt. */
  #retryAt = 0;
  #isClosed = false;

  constructor(system: System, logger: Logger, entry: URL | undefined) {
    this.#system = system;
    this.#logger = logger;
    this.#entry = entry;
  }

  /** Resolves with a live worker, or undefined. */
  async ready(): Promise<WorkerEngine | undefined> {
    const previous = this.#worker;
    const worker = await previous;
    if (worker?.isAlive || this.#isClosed) return worker;
    if (previous !== undefined && worker === undefined) {
      this.#retry();
      return undefined;
    }
    // Another call may have started a worker in the meantime.
    if (this.#worker === previous) {
      if (worker !== undefined) {
        this.#logger.error({ reason: worker.exitReason }, "the SIP audio worker has died; its calls have ended");
        void worker.close();
      }
      this.#worker = this.#start();
    }
    return await this.#worker;
  }

  /** Starts a worker in the background; calls run in this thread in the meantime. */
  #retry(): void {
    if (this.#system.monotonic() < this.#retryAt) return;
    this.#retryAt = Number.POSITIVE_INFINITY;
    void this.#start().then((worker) => {
      if (worker === undefined) return;
      if (this.#isClosed) void worker.close();
      else this.#worker = Promise.resolve(worker);
    });
  }

  async open(options: MediaOptions, listener: MediaListener, deadlines?: SendDeadline): Promise<MediaSession> {
    for (let attempt = 0; attempt < MAX_DEATHS; attempt++) {
      const worker = await this.ready();
      if (worker === undefined) break;
      try {
        return await worker.open(options, listener, deadlines);
      } catch (fault) {
        if (worker.isAlive || this.#isClosed) throw fault; // otherwise the worker died while this call was being opened
      }
    }
    return await this.#openInThread(options, listener, deadlines);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#worker?.then((worker) => worker?.close()), this.#thread?.close()]);
  }

  async #start(): Promise<WorkerEngine | undefined> {
    try {
      return await createWorkerEngine(this.#system, this.#entry);
    } catch (reason) {
      this.#retryAt = this.#system.monotonic() + RETRY_MS;
      this.#logger.warn({ reason }, "SIP audio runs in the application's thread: its worker could not be started");
      return undefined;
    }
  }

  async #openInThread(options: MediaOptions, listener: MediaListener, deadlines?: SendDeadline): Promise<MediaSession> {
    if (this.#isClosed) throw new ClosedError("the media engine is closed");
    this.#thread ??= createThreadEngine({ system: this.#system });
    return await this.#thread.open(options, listener, deadlines);
  }
}
