import { Worker } from "node:worker_threads";
import { type AudioThread, ClosedError, type MediaClock, NO_DEADLINES, realSystem, type System } from "../../ports.ts";
import {
  type MediaEngine,
  type MediaListener,
  type MediaOptions,
  type MediaSession,
  PortsExhausted,
  type SendDeadline,
} from "../engine.ts";
import { BEAT_MS, Heartbeat, HeartbeatWatch, STUCK_MS } from "./heartbeat.ts";
import { type FromMediaWorker, type MediaWorkerStart, newSharedCall, type ToMediaWorker } from "./shared-call.ts";
import { WorkerSession } from "./worker-session.ts";

/** Time to load the worker's code on a busy machine, ms. */
const START_TIMEOUT_MS = 10_000;

/**
 * The file that the worker runs. In the source tree it is next to this file; the build bundles this file into a chunk
 * directly under `dist/`, which holds the entry too, so the extension of this module decides.
 */
const ENTRY: URL = new URL(
  new URL(import.meta.url).pathname.endsWith(".ts") ? "./sip-media-worker.ts" : "./sip-media-worker.js",
  import.meta.url,
);

/** Options of a {@link WorkerEngine}. */
export interface WorkerEngineOptions extends Pick<MediaWorkerStart, "thread" | "ports"> {
  /** The clock of the calls. The worker itself starts and beats in real time. */
  readonly system: System;
  /** Moves the samples of the calls in this thread. */
  readonly clock: MediaClock;
  /** Entry file of the worker. Default: its own file. */
  readonly entry?: URL | undefined;
  /** Called when the last call has ended. */
  readonly onEmpty: () => void;
  /** Called when the worker has died, with the reason as a sentence; its calls are lost. */
  readonly onDeath: (reason: string) => void;
}

interface PendingOpen {
  readonly onOpened: (port: number) => void;
  readonly onRefused: (fault: Error) => void;
}

/** Carries the audio of calls in a worker thread, with its own sockets and clock. */
export class WorkerEngine implements Pick<MediaEngine, "open" | "close"> {
  /** Resolves when the worker takes calls; rejects if it could not be started. */
  readonly ready: Promise<void>;
  readonly #options: WorkerEngineOptions;
  readonly #worker: Worker;
  readonly #heartbeat: Heartbeat;
  #cancelCheck: (() => void) | undefined;
  /** Lead of this thread's clock over the worker's, ms; too large by the transit time of `ready`. */
  #aheadMs = 0;
  readonly #pendingOpens = new Map<number, PendingOpen>();
  /** The listeners of all calls, those that are being opened included. */
  readonly #listeners = new Map<number, MediaListener>();
  readonly #sessions = new Map<number, WorkerSession>();
  readonly #pendingReplies = new Map<number, (fault?: string) => void>();
  #resolveReady: () => void = () => {};
  #rejectReady: (fault: Error) => void = () => {};
  #lastId = 0;
  #exitReason: string | undefined;
  #closePromise: Promise<void> | undefined;

  constructor(options: WorkerEngineOptions) {
    this.#options = options;
    this.ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve;
      this.#rejectReady = reject;
    });
    const { entry = ENTRY, thread, ports } = options;
    const heartbeat = Heartbeat.memory();
    this.#heartbeat = new Heartbeat(heartbeat);
    const workerData: MediaWorkerStart = { thread, ports, heartbeat };
    this.#worker = new Worker(entry, { name: `ringport sip media ${thread}`, workerData });
    this.#worker.on("message", this.#receive);
    this.#worker.on("error", (fault: Error) => this.#handleExit(fault.message));
    this.#worker.on("exit", (code) => this.#handleExit(`it exited with code ${code}`));
    const cancel = realSystem.after(START_TIMEOUT_MS, () => {
      this.#handleExit(`it did not start within ${START_TIMEOUT_MS / 1000} s`);
    });
    void this.ready.then(cancel, cancel);
  }

  /** The load that the worker has last reported. */
  get load(): Pick<AudioThread, "latenessMs" | "isOverloaded"> {
    return this.#heartbeat;
  }

  /** Number of calls, those that are being opened included. */
  get calls(): number {
    return this.#listeners.size;
  }

  /** False once the worker has died: it opens no more calls, and its calls are lost. */
  get isAlive(): boolean {
    return this.#exitReason === undefined;
  }

  async open(
    media: MediaOptions,
    listener: MediaListener,
    deadlines: SendDeadline = NO_DEADLINES,
  ): Promise<MediaSession> {
    if (this.#closePromise !== undefined) throw new ClosedError("the media engine is closed");
    if (this.#exitReason !== undefined) throw new Error(this.#exitReason);
    const id = ++this.#lastId;
    const sharedCall = newSharedCall(media.sampleRate);
    this.#listeners.set(id, listener);
    if (this.#cancelCheck === undefined) this.#watch();
    try {
      const port = await new Promise<number>((onOpened, onRefused) => {
        this.#pendingOpens.set(id, { onOpened, onRefused });
        this.#updateRef();
        this.#post({ type: "open", id, options: media, shared: sharedCall });
      });
      const session = new WorkerSession({
        id,
        port,
        shared: sharedCall,
        media,
        listener,
        deadlines,
        aheadMs: this.#aheadMs,
        clock: this.#options.clock,
        post: this.#post,
        request: this.#request,
        onClosed: () => this.#forget(id),
      });
      this.#sessions.set(id, session);
      this.#pendingOpens.delete(id);
      if (this.#closePromise !== undefined) await session.close();
      return session;
    } catch (fault) {
      this.#forget(id);
      throw fault;
    }
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#close();
    return this.#closePromise;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
    this.#handleExit("it was closed");
    await this.#worker.terminate();
  }

  readonly #post = (message: ToMediaWorker): void => {
    if (this.#exitReason === undefined) this.#worker.postMessage(message);
  };

  readonly #request = (message: (ticket: number) => ToMediaWorker): Promise<void> =>
    new Promise((resolve, reject) => {
      if (this.#exitReason !== undefined) return resolve();
      const ticket = ++this.#lastId;
      this.#pendingReplies.set(ticket, (fault) => (fault === undefined ? resolve() : reject(new Error(fault))));
      this.#post(message(ticket));
    });

  readonly #receive = (message: FromMediaWorker): void => {
    if (message.type === "ready") {
      this.#aheadMs = this.#options.system.monotonic() - message.monotonic;
      this.#resolveReady();
      this.#updateRef();
    } else if (message.type === "done") {
      const settle = this.#pendingReplies.get(message.ticket);
      this.#pendingReplies.delete(message.ticket);
      settle?.(message.fault);
    } else if (message.type === "opened") this.#pendingOpens.get(message.id)?.onOpened(message.port);
    else if (message.type === "refused") this.#pendingOpens.get(message.id)?.onRefused(faultOf(message));
    else this.#notify(message);
  };

  /** Notifies the listener of a call, if it still exists. */
  #notify(message: Extract<FromMediaWorker, { type: "noticed" | "digit" | "silent" | "lost" }>): void {
    const listener = this.#listeners.get(message.id);
    if (message.type === "noticed") listener?.[message.event]?.();
    else if (message.type === "digit") listener?.digit(message.digit);
    else listener?.[message.type](message.detail);
  }

  #forget(id: number): void {
    this.#pendingOpens.delete(id);
    this.#listeners.delete(id);
    this.#sessions.delete(id);
    this.#updateRef();
    if (this.#listeners.size > 0) return;
    this.#stopWatch();
    this.#options.onEmpty();
  }

  /** Watches the worker's heartbeat during calls. */
  #watch(): void {
    const watch = new HeartbeatWatch(this.#heartbeat.beats, realSystem.monotonic());
    const check = (): void => {
      if (watch.isStuck(this.#heartbeat.beats, realSystem.monotonic()))
        this.#handleExit(`it has not responded for ${STUCK_MS / 1_000} s`);
      else this.#cancelCheck = realSystem.after(BEAT_MS, check);
    };
    this.#cancelCheck = realSystem.after(BEAT_MS, check);
  }

  #stopWatch(): void {
    this.#cancelCheck?.();
    this.#cancelCheck = undefined;
  }

  /** Keeps the process alive only during calls and the start. */
  #updateRef(): void {
    const isBusy = this.#pendingOpens.size + this.#sessions.size > 0;
    if (isBusy) this.#worker.ref();
    else this.#worker.unref();
  }

  /** Settles all requests and reports the calls as lost, once. */
  #handleExit(reason: string): void {
    if (this.#exitReason !== undefined) return;
    this.#exitReason = `the thread for the audio of calls has ended: ${reason}`;
    this.#stopWatch();
    const fault = new Error(this.#exitReason);
    this.#rejectReady(fault);
    for (const { onRefused } of [...this.#pendingOpens.values()]) onRefused(fault);
    for (const settle of [...this.#pendingReplies.values()]) settle();
    this.#pendingReplies.clear();
    if (this.#closePromise !== undefined) return;
    for (const session of this.#sessions.values()) session.reportLoss(this.#exitReason);
    this.#options.onDeath(this.#exitReason);
  }
}

function faultOf({ name, message }: { name: string; message: string }): Error {
  return name === "PortsExhausted" ? new PortsExhausted(message) : new Error(message);
}
