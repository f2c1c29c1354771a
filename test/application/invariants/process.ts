// Preloaded, so that no start waits for an import when the run settles.
import "../../../adapters/agent/configured-agent.ts";
import "../../../adapters/agent/scripted/scripted-agent.ts";
import "../../../adapters/body-parsing/worker-parser.ts";
import "../../../adapters/defaults.ts";
import "../../../adapters/speech/joined-speech.ts";
import "../../../src/application/encryption/resealing.ts";
import "../../../src/application/encryption/sealed-records.ts";
import "../../../src/application/calls/live/call-quality.ts";
import "../../../src/application/calls/dialling/dial-protection.ts";
import "../../../src/application/calls/dialling/last-check.ts";
import "../../../src/domain/numbers/number-zones.ts";
import "../../../adapters/defaults/worker-pool.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import { StorageLocked, StorageUnavailable } from "../../../src/ports/storage.ts";
import { createRingport, type Ringport } from "../../../src/ringport.ts";
import { decoder, ToneSpeech } from "../../support/application.ts";
import { isWrite } from "../../support/faulty-storage.ts";
import { MemoryRecordings } from "../../support/memory-recordings.ts";
import { type Attempt, ModelNetwork } from "./model-network.ts";
import { ModelStorage } from "./model-storage.ts";
import { ModelSystem } from "./model-system.ts";
import type { Run } from "./run.ts";

/** Time limits, short enough for a run to reach each of them. */
export const TIMINGS = {
  queueTimeoutMs: 60_000,
  ringTimeoutMs: 20_000,
  maxDurationMs: 40_000,
  lineGraceMs: 10_000,
} as const;

/** Point at which a process dies: at the n-th storage operation from now on, or at the next dial. */
export type CrashPoint =
  | { readonly at: "operation"; readonly n: number; readonly writes: boolean; readonly done: boolean }
  | { readonly at: "dial" };

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 90_000;
/** Maximum number of storage operations at one moment of the clock; a process that exceeds it never settles. */
const MAX_OPERATIONS = 5_000;
/** Time for which the line stays busy after its process has died, ms. */
const LINE_BUSY_MS = 5_000;

/** A process in a run: a Ringport with its own clock, network and access to the database. */
export class Process {
  readonly number: number;
  readonly system: ModelSystem;
  readonly network: ModelNetwork;
  readonly storage: ModelStorage;
  readonly app: Ringport;
  /** Log messages that would alert an operator. */
  readonly errors: string[] = [];
  isAlive = true;
  isStarted = false;
  /** Time of its latest resumption after a stop, ms on its monotonic clock. */
  resumedAt = 0;
  readonly run: Run;
  #crash: CrashPoint | undefined;
  #operationCount = 0;
  #lastOperationAt = 0;
  #operationsAtOnce = 0;

  /** @param predecessor a dead process on the same machine */
  constructor(run: Run, number: number, predecessor?: Process) {
    this.run = run;
    this.number = number;
    this.system = new ModelSystem(run.clock, {
      seed: number,
      ...(predecessor && { now: predecessor.system.now() + 1_000 }),
    });
    this.network = new ModelNetwork(this);
    this.storage = new ModelStorage(
      run.leases?.storage() ?? { ...run.database, open: async () => {}, close: async () => {} },
    );
    this.storage.before = (operation, args) => this.#beforeOperation(operation, args);
    this.storage.after = (operation) => this.#after(operation);
    const log: Logger = {
      debug() {},
      info() {},
      warn() {},
      error: (fields, message) => void this.errors.push(`${message}: ${String(fields.err ?? "")}`),
    };
    this.app = createRingport({
      ...TIMINGS,
      system: this.system,
      telephony: this.network,
      storage: this.storage,
      speech: new ToneSpeech(),
      decoder,
      recordings: new MemoryRecordings(),
      queue: run.policy,
      streamPreview: true,
      secret: "07".repeat(32),
      log,
    });
  }

  /** True if the process may act: its lease has neither been taken over nor expired. */
  get isOwner(): boolean {
    const { leases } = this.run;
    return !leases || (this.storage.lease?.epoch === leases.epoch && leases.remainingMs > 0);
  }

  /** Name of its current life, since its start or since it last became owner. */
  get life(): string {
    return `${this.number}/${this.storage.lease?.epoch ?? 0}`;
  }

  /** Starts the application; the process dies if the start fails. */
  begin(): void {
    this.app.start().then(
      () => {
        this.isStarted = true;
      },
      (error: unknown) => {
        if (!(error instanceof StorageUnavailable || error instanceof StorageLocked))
          this.run.findings.add("no-surprise", `the start failed with ${error}`);
        this.kill();
      },
    );
  }

  /** Starts the application and waits; returns false if the process died because the start failed. */
  async start(): Promise<boolean> {
    this.begin();
    await this.system.settle();
    for (let ms = 0; this.isAlive && !this.isStarted && ms < START_TIMEOUT_MS; ms += 1_000)
      await this.system.advance(1_000);
    if (!this.isStarted) this.kill();
    return this.isAlive;
  }

  /** Stops the application and the process; returns true if the application stopped in time. */
  async stop(drainMs: number): Promise<boolean> {
    let hasStopped = false;
    void this.app.stop({ drainMs }).then(() => {
      hasStopped = true;
    });
    await this.system.settle();
    for (let ms = 0; this.isAlive && !hasStopped && ms < STOP_TIMEOUT_MS; ms += 1_000) await this.system.advance(1_000);
    return hasStopped;
  }

  /** Resumes a stopped process. */
  resume(order: "forwards" | "backwards"): void {
    if (!this.system.isStopped) return;
    this.resumedAt = this.system.monotonic();
    this.system.resume(order);
  }

  /** Kills the process: its timers never fire, its promises never resolve, its writes never arrive. */
  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.system.kill();
    for (const { leg, instanceId } of this.network.attempts)
      if (leg?.live) this.run.busyUntil.set(instanceId, this.run.clock.monotonic() + LINE_BUSY_MS);
    this.run.onDeath(this);
  }

  /** Plans a crash; undefined cancels it. */
  crashAt(point: CrashPoint | undefined): void {
    this.#crash = point;
    this.#operationCount = 0;
  }

  onDial(attempt: Attempt): void {
    this.run.onDial(attempt);
    if (this.#crash?.at === "dial") this.kill();
  }

  async #beforeOperation(operation: string, args: readonly unknown[]): Promise<void> {
    if (this.isAlive && this.#isCrashPoint(operation, false)) this.kill();
    if (this.isAlive && this.#countOperation()) {
      this.run.findings.add("comes-to-rest", `"${operation}" is one of more than ${MAX_OPERATIONS} operations`);
      this.kill();
    }
    const epoch = this.storage.lease?.epoch;
    await this.system.waitUntilRunning();
    if (this.isAlive) await this.storage.reach();
    if (this.isAlive) await this.run.storageFaults.before(operation);
    // A storage that closes waits for its running operations, so none of them reaches the next opening.
    if (operation !== "open" && epoch !== this.storage.lease?.epoch)
      throw new StorageUnavailable("the storage was closed in the meantime");
    if (operation === "calls.claimNext") await this.run.onClaim(String(args[0]), String(args[4]), Number(args[2]));
    if (!this.isAlive) await new Promise(() => {});
  }

  async #after(operation: string): Promise<void> {
    if (this.isAlive && this.#isCrashPoint(operation, true)) this.kill();
    if (operation === "open" && this.run.leases) await this.run.owners.onOwner(this);
    await this.system.waitUntilRunning();
    if (this.isAlive) await this.storage.reach();
    if (!this.isAlive) return new Promise(() => {});
    this.run.storageFaults.after(operation);
  }

  #countOperation(): boolean {
    const moment = this.run.clock.monotonic();
    if (moment !== this.#lastOperationAt) this.#operationsAtOnce = 0;
    this.#lastOperationAt = moment;
    return ++this.#operationsAtOnce > MAX_OPERATIONS;
  }

  #isCrashPoint(operation: string, done: boolean): boolean {
    const crash = this.#crash;
    if (crash?.at !== "operation" || crash.done !== done || (crash.writes && !isWrite(operation))) return false;
    return ++this.#operationCount === crash.n;
  }
}
