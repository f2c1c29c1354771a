import type { QueuePolicy } from "../../../src/domain/queue-policy.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { World } from "../../support/application.ts";
import { isWrite } from "../../support/faulty-storage.ts";
import type { AdapterFaults } from "./adapter-faults.ts";
import { type Attempt, ModelNetwork, type NetworkOwner } from "./model-network.ts";
import { ModelSystem } from "./model-system.ts";
import type { StorageFaults } from "./storage-faults.ts";

/** Short, so that a run passes every time limit; ms. */
export const TIMINGS = {
  queueTimeoutMs: 60_000,
  ringTimeoutMs: 20_000,
  maxDurationMs: 40_000,
  lineGraceMs: 10_000,
} as const;

/** Where a process dies: at the n-th operation of the storage from now on, or at the next dial. */
export type CrashPoint =
  | { readonly at: "operation"; readonly n: number; readonly writes: boolean; readonly done: boolean }
  | { readonly at: "dial" };

/** What the processes of a run share. */
export interface Shared {
  readonly database: Storage;
  readonly storageFaults: StorageFaults;
  readonly adapterFaults: AdapterFaults;
  readonly policy: QueuePolicy;
  dialled(attempt: Attempt): void;
  /** Called before each `claimNext` of an instance. */
  claiming(instanceId: string): Promise<void>;
}

const STARTS_WITHIN_MS = 30_000;
const STOPS_WITHIN_MS = 90_000;

/** One process of a run: the application with a clock, a network and a way to the database of its own. */
export class Process implements NetworkOwner {
  readonly number: number;
  readonly system: ModelSystem;
  readonly network: ModelNetwork;
  readonly world: World;
  readonly faults: AdapterFaults;
  alive = true;
  readonly #shared: Shared;
  #crash: CrashPoint | undefined;
  #operations = 0;

  /** @param before the process before it, which is dead */
  constructor(shared: Shared, before?: Process) {
    this.#shared = shared;
    this.number = (before?.number ?? 0) + 1;
    this.faults = shared.adapterFaults;
    this.system = new ModelSystem({ seed: this.number, ...(before && { now: before.system.now() + 1_000 }) });
    this.network = new ModelNetwork(this);
    const { database, policy } = shared;
    for (const [instanceId, phone] of before?.network.devices ?? []) this.network.devices.set(instanceId, phone);
    const storage = { ...database, open: async () => {}, close: async () => {} };
    const { system, network } = this;
    this.world = new World({ policy, timings: TIMINGS, streamPreview: true, system, network, storage });
    this.world.storage.before = (operation, args) => this.#before(operation, args);
    this.world.storage.after = (operation) => this.#after(operation);
  }

  get app(): World["app"] {
    return this.world.app;
  }

  /** Starts the application; false when the storage keeps it from starting, and then the process is dead. */
  async start(): Promise<boolean> {
    let outcome: "started" | "failed" | undefined;
    const set = (to: typeof outcome) => () => {
      outcome = to;
    };
    this.app.start().then(set("started"), (error: unknown) => {
      if ((error as Error).name !== "StorageUnavailable") throw error;
      outcome = "failed";
    });
    await this.system.settle();
    for (let ms = 0; this.alive && !outcome && ms < STARTS_WITHIN_MS; ms += 1_000) await this.system.advance(1_000);
    if (outcome === "started" && this.alive) return true;
    this.die();
    return false;
  }

  /** Stops the application and the process; answers whether the application stopped in time. */
  async stop(drainMs: number): Promise<boolean> {
    let stopped = false;
    void this.app.stop(drainMs).then(() => {
      stopped = true;
    });
    await this.system.settle();
    for (let ms = 0; this.alive && !stopped && ms < STOPS_WITHIN_MS; ms += 1_000) await this.system.advance(1_000);
    return stopped;
  }

  /** The process is gone: its timers never fire, its promises never resolve, its writes never arrive. */
  die(): void {
    this.alive = false;
    this.system.die();
  }

  /** Plans its death; undefined: it lives on. */
  crashAt(point: CrashPoint | undefined): void {
    this.#crash = point;
    this.#operations = 0;
  }

  dialled(attempt: Attempt): void {
    this.#shared.dialled(attempt);
    if (this.#crash?.at === "dial") this.die();
  }

  async #before(operation: string, args: readonly unknown[]): Promise<void> {
    if (this.alive && this.#isCrashPoint(operation, false)) this.die();
    if (this.alive) await this.#shared.storageFaults.before(operation);
    if (operation === "calls.claimNext") await this.#shared.claiming(String(args[0]));
    if (!this.alive) await new Promise(() => {});
  }

  #after(operation: string): void | Promise<void> {
    if (this.alive && this.#isCrashPoint(operation, true)) this.die();
    if (!this.alive) return new Promise(() => {});
    this.#shared.storageFaults.after(operation);
  }

  #isCrashPoint(operation: string, done: boolean): boolean {
    const crash = this.#crash;
    if (crash?.at !== "operation" || crash.done !== done || (crash.writes && !isWrite(operation))) return false;
    return ++this.#operations === crash.n;
  }
}
