import { type AudioThread, ClosedError, type Logger, MediaClock, type System } from "../../ports.ts";
import {
  MAX_MEDIA_THREADS,
  type MediaEngine,
  type MediaListener,
  type MediaOptions,
  MediaOverloaded,
  type MediaSession,
  type SendDeadline,
} from "../engine.ts";
import { PortPairs } from "../port-pairs.ts";
import { createThreadEngine } from "../thread-engine.ts";
import { MediaThread } from "./media-thread.ts";

/** Minimum wait before a thread that could not be started is retried, ms. */
const RETRY_MS = 10_000;
/** Maximum number of threads that may die for a call before it runs in the application's thread. */
const MAX_DEATHS = 2;
const DEFAULT_IDLE_MS = 300_000;
/** Number of the application's thread among those with calls; the others count from 1. */
const OWN_THREAD = 255;

/** Warnings about a thread that could not be started. */
const START_FAILED = {
  only: "SIP audio runs in the application's thread: its own thread could not be started",
  additional: "a further thread for SIP audio could not be started",
};

/** Options of {@link MediaThreads}. */
export interface MediaThreadsOptions {
  readonly system: System;
  readonly logger: Logger;
  /** Maximum number of threads, from 1. */
  readonly maxThreads: number;
  /** Time without a call after which all threads but one end, ms. Default: 300,000. */
  readonly idleMs?: number | undefined;
  /** Entry of the threads. Default: its own file. */
  readonly entry?: URL | undefined;
}

/**
 * Spreads calls over threads: each call goes to the thread with the fewest, and another thread starts once all have
 * calls. A thread that dies ends its calls and no others; the next call starts another one. If none can be started,
 * calls run in the application's thread and a warning is logged.
 */
export class MediaThreads implements MediaEngine {
  readonly #options: MediaThreadsOptions;
  readonly #maxThreads: number;
  readonly #clock: MediaClock;
  readonly #ports = PortPairs.memory();
  readonly #threads = new Set<MediaThread>();
  /** Numbers in use, those of threads that are ending included. */
  readonly #numbers = new Set<number>();
  #ownThread: MediaEngine | undefined;
  /** Time before which no thread is started; 0 if the last start succeeded. */
  #retryAt = 0;
  #isClosed = false;

  constructor(options: MediaThreadsOptions) {
    this.#options = options;
    this.#maxThreads = Math.min(Math.max(1, options.maxThreads), MAX_MEDIA_THREADS);
    this.#clock = new MediaClock(options.system);
  }

  /** Starts the first thread; resolves when it takes calls, or could not be started. */
  async start(): Promise<void> {
    await this.#start().started;
  }

  async open(options: MediaOptions, listener: MediaListener, deadlines?: SendDeadline): Promise<MediaSession> {
    for (let attempt = 0; attempt < MAX_DEATHS && !this.#isClosed; attempt++) {
      const thread = this.#nextThread();
      if (thread === undefined) break;
      try {
        return await thread.open(options, listener, deadlines);
      } catch (fault) {
        if (thread.isAlive || this.#isClosed) throw fault; // otherwise it died while this call was being opened
      }
    }
    return await this.#openInOwnThread(options, listener, deadlines);
  }

  threads(): readonly AudioThread[] {
    const states = [...this.#threads].filter(({ isStarted }) => isStarted).map(({ state }) => state);
    return [...(this.#ownThread?.threads() ?? []), ...states.toSorted((a, b) => a.number - b.number)];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...[...this.#threads].map((thread) => thread.close()), this.#ownThread?.close()]);
    this.#clock.close();
  }

  /**
   * The thread for the next call: the one with the fewest calls among those that are not overloaded. Starts another one
   * if all of them have calls. Undefined if none is expected to start.
   * @throws {MediaOverloaded}
   */
  #nextThread(): MediaThread | undefined {
    const threads = [...this.#threads].filter(({ isAlive }) => isAlive);
    const usableThreads = threads.filter(({ state }) => !state.isOverloaded);
    const mayStart = threads.length < this.#maxThreads && this.#options.system.monotonic() >= this.#retryAt;
    if (mayStart && usableThreads.every(({ calls }) => calls > 0)) usableThreads.push(this.#start());
    // After a failure, no call waits for the next start.
    const candidates = this.#retryAt > 0 ? usableThreads.filter(({ isStarted }) => isStarted) : usableThreads;
    if (candidates.length === 0 && usableThreads.length < threads.length) throw new MediaOverloaded(this.threads());
    return candidates.toSorted((a, b) => a.load - b.load)[0];
  }

  #start(): MediaThread {
    const { system, entry, idleMs = DEFAULT_IDLE_MS } = this.#options;
    let number = 1;
    while (this.#numbers.has(number)) number++;
    this.#numbers.add(number);
    const thread: MediaThread = new MediaThread({
      ...{ system, clock: this.#clock, ports: this.#ports, thread: number, entry, idleMs },
      onDeath: (reason) => this.#onDeath(thread, reason),
      onIdle: () => {
        if (this.#threads.size > 1) this.#end(thread);
      },
    });
    this.#threads.add(thread);
    void thread.started.then((hasStarted) => {
      if (hasStarted) this.#retryAt = 0;
    });
    return thread;
  }

  #onDeath(thread: MediaThread, reason: string): void {
    const { logger, system } = this.#options;
    this.#end(thread);
    if (thread.isStarted) {
      logger.error({ reason, calls: thread.calls }, "a thread for SIP audio has died; its calls have ended");
      return;
    }
    if (this.#retryAt === 0) logger.warn({ reason }, START_FAILED[this.#threads.size > 0 ? "additional" : "only"]);
    this.#retryAt = system.monotonic() + RETRY_MS;
  }

  #end(thread: MediaThread): void {
    this.#threads.delete(thread);
    void thread.close().then(() => this.#numbers.delete(thread.number));
  }

  async #openInOwnThread(
    options: MediaOptions,
    listener: MediaListener,
    deadlines?: SendDeadline,
  ): Promise<MediaSession> {
    if (this.#isClosed) throw new ClosedError("the media engine is closed");
    const { system } = this.#options;
    const ports = new PortPairs(system, this.#ports, OWN_THREAD);
    this.#ownThread ??= createThreadEngine({ system, ports, refusesWhenLate: true });
    return await this.#ownThread.open(options, listener, deadlines);
  }
}
