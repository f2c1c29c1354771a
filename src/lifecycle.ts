import { ClosedError } from "./base/error.ts";
import { pause } from "./base/timers.ts";
import { Refusal } from "./domain/refusal.ts";
import { decideServer, type ServerEffect, type ServerInput, type ServerState } from "./domain/server-flow.ts";
import { type Absence, NOT_THE_OWNER } from "./http/not-running.ts";
import type { EmbeddedPorts } from "./options.ts";
import type { Logger } from "./ports/logger.ts";
import { type Storage, StorageLocked } from "./ports/storage.ts";
import type { System } from "./ports/system.ts";

/** Interval between checks of a database that another server owns, ms. */
const POLL_MS = 1_000;
/** Margin added to the remaining time of a lease, ms. */
const MARGIN_MS = 100;
/** Longest pause before another start after the lease was lost, ms. */
const MAX_PAUSE_MS = 5_000;

/** Parts that run on an opened storage. */
export interface RunningApp {
  readonly lease: { readonly isHeld: boolean; readonly lostSignal: AbortSignal };
  /** Ends the live part; the ports stay open. Idempotent. */
  stop(drainMs: number): Promise<void>;
}

/** Dependencies of a {@link Lifecycle}. */
export interface LifecycleOptions<App extends RunningApp> {
  readonly system: System;
  readonly log: Logger;
  readonly onLeaseLost: "restart" | "exit";
  ports(): Promise<EmbeddedPorts>;
  /** Opens the storage as its owner. @throws {StorageLocked} */
  open(storage: Storage): Promise<void>;
  /** Starts the parts that run on the open storage. */
  start(ports: EmbeddedPorts): Promise<App>;
  /** Closes all ports but the storage. Never rejects. */
  closePorts(ports: EmbeddedPorts): Promise<void>;
  /** Closes a storage that may be unreachable. Never rejects, and is bounded in time. */
  giveUpStorage(storage: Storage): Promise<void>;
}

/**
 * Starts and stops the running parts. If the lease of the database is lost, starts new parts on the reopened storage,
 * or ends; only the ports are reused.
 */
export class Lifecycle<App extends RunningApp> {
  /** Resolves with the reason once everything has ended because the lease was lost; only under `exit`. */
  readonly ended: Promise<Error>;
  readonly #options: LifecycleOptions<App>;
  readonly #halt = new AbortController();
  #resolveEnded: (reason: Error) => void = () => {};
  #startPromise: Promise<App> | undefined;
  #app: App | undefined;
  #ports: EmbeddedPorts | undefined;
  #stopPromise: Promise<void> | undefined;
  #state: ServerState = "new";
  /** Callers that wait for the first start, to be refused if it has to wait for another server. */
  readonly #waitingCallers = new Set<() => void>();

  constructor(options: LifecycleOptions<App>) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** The running parts, if they can be used now. */
  get current(): App | undefined {
    return !this.isClosed && this.#app?.lease.isHeld ? this.#app : undefined;
  }

  /** True once live calls have ended and the ports are closing; until then the stopping application still responds. */
  get isClosed(): boolean {
    return this.#state === "stopped";
  }

  /** Reason why there is no application. */
  get absence(): Absence {
    if (this.#state === "stopping" || this.#state === "stopped") return "stopping";
    return this.#isForeign ? "storage_unavailable" : "not_ready";
  }

  /**
   * The running parts, started if necessary; does not wait for a database that another server owns.
   * @throws {Refusal} `storage_unavailable`: this server does not own its database at the moment
   */
  async use(): Promise<App> {
    if (this.#isForeign && !this.isClosed) throw refusal();
    if (this.#app) return this.start();
    return new Promise((resolve, reject) => {
      const refuse = () => reject(refusal());
      this.#waitingCallers.add(refuse);
      this.start()
        .then(resolve, reject)
        .finally(() => this.#waitingCallers.delete(refuse));
    });
  }

  /** Starts unless already started; resolves when this server owns its database and is running. */
  start(): Promise<App> {
    if (this.isClosed || (this.#state === "stopping" && !this.#startPromise))
      return Promise.reject(new ClosedError("this Ringport was stopped; create a new one"));
    this.#startPromise ??= this.#start().catch((error: unknown) => {
      this.#startPromise = undefined;
      this.#transition("fail");
      throw error;
    });
    return this.#startPromise;
  }

  /** Ends everything permanently. Idempotent. */
  stop(drainMs: number): Promise<void> {
    this.#stopPromise ??= this.#stop(drainMs);
    return this.#stopPromise;
  }

  /** True while another server owns the database, or may own it. */
  get #isForeign(): boolean {
    return this.#state === "standby" || (this.#ports !== undefined && !this.#app?.lease.isHeld);
  }

  #transition(input: ServerInput): readonly ServerEffect[] {
    const { state, effects } = decideServer(this.#state, input, this.#options.onLeaseLost);
    this.#state = state;
    return effects;
  }

  async #start(): Promise<App> {
    this.#transition("start");
    const ports = await this.#options.ports();
    try {
      return await this.#startApp(ports);
    } catch (error) {
      this.#transition("fail");
      await this.#options.closePorts(ports);
      await ports.storage.close().catch(() => {});
      throw error;
    }
  }

  async #stop(drainMs: number): Promise<void> {
    this.#transition("stop");
    this.#halt.abort();
    const app = await this.#startPromise?.catch(() => undefined);
    await app?.stop(drainMs);
    this.#transition("close");
    if (!this.#ports) return;
    const { storage } = this.#ports;
    await this.#options.closePorts(this.#ports);
    // No application means that the lease was lost and no restart has succeeded yet.
    await (app?.lease.isHeld ? storage.close() : this.#options.giveUpStorage(storage));
  }

  /** Opens the storage and starts the parts that run on it. */
  async #startApp(ports: EmbeddedPorts): Promise<App> {
    await this.#open(ports.storage);
    const app = await this.#options.start(ports);
    const { lostSignal } = app.lease;
    this.#ports = ports;
    this.#app = app;
    this.#transition("own");
    lostSignal.addEventListener("abort", () => this.#onLeaseLost(app, ports));
    if (lostSignal.aborted) this.#onLeaseLost(app, ports);
    return app;
  }

  /** Waits until another server's lease has run out: once, or repeatedly under `restart`. */
  async #open(storage: Storage): Promise<void> {
    const { system, log, onLeaseLost, open } = this.#options;
    let leaseEndsAt: number | undefined;
    for (;;) {
      try {
        return await open(storage);
      } catch (error) {
        if (!(error instanceof StorageLocked) || error.remainingMs === undefined || this.#halt.signal.aborted)
          throw error;
        if (leaseEndsAt === undefined)
          log.warn({}, `${error.message}; its lease runs out in ${Math.ceil(error.remainingMs / 1000)} s; waiting`);
        leaseEndsAt ??= system.monotonic() + error.remainingMs + MARGIN_MS;
        const remainingMs = leaseEndsAt - system.monotonic();
        if (remainingMs <= 0 && onLeaseLost === "exit") throw error;
        if (this.#transition("wait").includes("refuse_callers")) this.#refuseCallers();
        await pause(system, remainingMs > 0 ? Math.min(remainingMs, POLL_MS) : POLL_MS, this.#halt.signal);
      }
    }
  }

  #refuseCallers(): void {
    for (const refuse of this.#waitingCallers) refuse();
    this.#waitingCallers.clear();
  }

  #onLeaseLost(app: App, ports: EmbeddedPorts): void {
    for (const effect of this.#transition("lose")) {
      this.#app = undefined;
      if (effect === "refuse_callers") this.#refuseCallers();
      else if (effect === "exit") {
        const reportEnd = () => this.#resolveEnded(app.lease.lostSignal.reason as Error);
        this.stop(0).then(reportEnd, reportEnd);
      } else {
        this.#startPromise = this.#restart(app, ports);
        this.#startPromise.catch(() => {}); // only a stop ends the attempts
      }
    }
  }

  async #restart(app: App, ports: EmbeddedPorts): Promise<App> {
    const { system, log, giveUpStorage } = this.#options;
    await app.stop(0);
    for (let waitMs = POLL_MS; ; waitMs = Math.min(2 * waitMs, MAX_PAUSE_MS)) {
      await giveUpStorage(ports.storage);
      this.#halt.signal.throwIfAborted();
      try {
        return await this.#startApp(ports);
      } catch (error) {
        if (!this.#halt.signal.aborted) log.warn({ err: error }, `the restart failed; trying again in ${waitMs} ms`);
        await pause(system, waitMs, this.#halt.signal);
      }
    }
  }
}

function refusal(): Refusal {
  return new Refusal("storage_unavailable", NOT_THE_OWNER);
}
