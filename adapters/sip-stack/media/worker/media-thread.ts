import { clearTimeout, setTimeout } from "node:timers";
import type { AudioThread } from "../../ports.ts";
import type { MediaListener, MediaOptions, MediaSession, SendDeadline } from "../engine.ts";
import { PortPairs } from "../port-pairs.ts";
import { WorkerEngine, type WorkerEngineOptions } from "./worker-engine.ts";

/** A call waits for a thread that is starting if every other one has this many more calls. */
const STARTING_LOAD = 16;

/** Options of a {@link MediaThread}. */
export interface MediaThreadOptions extends Omit<WorkerEngineOptions, "onEmpty"> {
  /** Time without a call after which `onIdle` is called, ms. */
  readonly idleMs: number;
  readonly onIdle: (thread: MediaThread) => void;
}

/** One of several threads that carry the audio of calls, from its start to its end. */
export class MediaThread {
  /** Resolves with false if the thread could not be started. Never rejects. */
  readonly started: Promise<boolean>;
  readonly #engine: WorkerEngine;
  readonly #options: MediaThreadOptions;
  #isStarted = false;
  /** Calls that wait for the start. */
  #waitingCount = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #endPromise: Promise<void> | undefined;

  constructor(options: MediaThreadOptions) {
    this.#options = options;
    this.#engine = new WorkerEngine({ ...options, onEmpty: () => this.#waitForCalls() });
    this.started = this.#engine.ready.then(
      () => {
        this.#isStarted = true;
        if (this.calls === 0) this.#waitForCalls();
        return true;
      },
      () => false,
    );
  }

  /** Its number, 1 to 255; a later thread may have the same one. */
  get number(): number {
    return this.#options.thread;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** False once it is closed or its worker has died. */
  get isAlive(): boolean {
    return this.#endPromise === undefined && this.#engine.isAlive;
  }

  /** Number of calls, those that wait for its start included. */
  get calls(): number {
    return this.#waitingCount + this.#engine.calls;
  }

  /** Its state, for operators. */
  get state(): AudioThread {
    const { latenessMs, isOverloaded } = this.#engine.load;
    return { number: this.number, calls: this.calls, latenessMs, isOverloaded };
  }

  /** Measure by which calls are spread: its calls, and more while it starts. */
  get load(): number {
    return this.calls + (this.#isStarted ? 0 : STARTING_LOAD);
  }

  /** Opens a session once the thread has started; rejects if it could not be started, or dies in the meantime. */
  async open(options: MediaOptions, listener: MediaListener, deadlines?: SendDeadline): Promise<MediaSession> {
    clearTimeout(this.#idleTimer);
    if (!this.#isStarted) {
      this.#waitingCount++;
      await this.started;
      this.#waitingCount--;
    }
    return await this.#engine.open(options, listener, deadlines);
  }

  /** Ends its calls and the thread; its ports are free afterwards. Idempotent. */
  close(): Promise<void> {
    this.#endPromise ??= this.#end();
    return this.#endPromise;
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idleTimer);
    await this.#engine.close();
    const { system, ports, thread } = this.#options;
    new PortPairs(system, ports, thread).releaseAll();
  }

  #waitForCalls(): void {
    clearTimeout(this.#idleTimer);
    if (!this.isAlive) return;
    this.#idleTimer = setTimeout(() => this.#options.onIdle(this), this.#options.idleMs).unref();
  }
}
