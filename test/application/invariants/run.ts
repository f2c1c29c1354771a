import type { StreamAttachment } from "../../../src/application/call-audio/streams/stream-client.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { QueuePolicy } from "../../../src/domain/instances/queue-capacity.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import type { ScriptedLine } from "../../../src/testing/scripted-telephony.ts";
import { ALICE } from "../../support/application.ts";
import { LeasedDatabase } from "../../support/leased-storage.ts";
import { memoryStorage } from "../../support/memory-storage.ts";
import type { RecordingClient } from "../../support/recording-client.ts";
import { AdapterFaults } from "./adapter-faults.ts";
import { isDeleted } from "./check-deletion.ts";
import { EventReader } from "./event-reader.ts";
import { Findings } from "./invariant.ts";
import { LateDials } from "./late-dials.ts";
import type { Attempt } from "./model-network.ts";
import { ModelClock } from "./model-system.ts";
import { OwnerChecks } from "./owner-checks.ts";
import { Process } from "./process.ts";
import { ProtectionChecks } from "./protection-checks.ts";
import { Requests } from "./requests.ts";
import { StorageFaults } from "./storage-faults.ts";

/** A client, and the stream that it was attached to. */
export interface AttachedClient {
  readonly client: RecordingClient;
  readonly attachment: StreamAttachment;
  readonly callId: string;
  readonly process: Process;
  readonly life: string;
}

/** Delay after which a supervisor restarts a dead process, ms. */
const RESTART_MS = 500;
/** Time within which a process must own a database with a lease, after all faults have ended, ms. */
const OWNER_TIMEOUT_MS = 60_000;

/** One run of the model: a database, its processes, and their observations. */
export class Run {
  readonly policy: QueuePolicy;
  readonly clock: ModelClock = new ModelClock();
  readonly database: Storage = memoryStorage();
  /** The lease on the database; undefined for one process at a time, as with the kernel's lock. */
  readonly leases: LeasedDatabase | undefined;
  readonly storageFaults = new StorageFaults();
  readonly adapterFaults = new AdapterFaults();
  readonly findings = new Findings();
  readonly owners: OwnerChecks = new OwnerChecks(this);
  readonly protection: ProtectionChecks = new ProtectionChecks(this);
  readonly lateDials: LateDials = new LateDials(this);
  readonly requests = new Requests(this.findings);
  readonly reader = new EventReader(this.database, ALICE.userId);
  /** The network's linked numbers. */
  readonly devices = new Map<string, string | null>();
  /** Times until which a dead process's leg keeps an instance's line, ms on the run's clock. */
  readonly busyUntil = new Map<string, number>();
  /** Ids of all instances whose creation returned 201. */
  readonly instances: string[] = [];
  /** Instances whose linking was confirmed and that have not been unlinked or deleted since. */
  readonly linkedIds = new Set<string>();
  /** Calls whose creation returned 201. */
  readonly createdIds = new Set<string>();
  /** Sizes of the calls' audio files, bytes. */
  readonly fileSizes = new Map<string, number>();
  readonly clients: AttachedClient[] = [];
  readonly attempts: Attempt[] = [];
  /** Final calls, as they were first read. */
  readonly finalCalls = new Map<string, Call>();
  /** Calls whose instance had already been deleted when they were last claimed. */
  readonly #callsDeletedAtClaim = new Set<string>();
  /** True if errors are expected in the operator's log. */
  expectsErrors = false;
  /** The process that gets the requests: the current owner of the database, or the latest process. */
  process: Process;
  /** Every living process; more than one only on a database with a lease. */
  readonly processes: Process[];
  #processCount = 0;
  /** Number of phone numbers handed out so far. */
  #numberCount = 0;
  #isSupervised = true;

  /** @param hasLease true if several processes may compete for the database */
  constructor(policy: QueuePolicy, hasLease: boolean) {
    this.policy = policy;
    this.expectsErrors = hasLease;
    if (hasLease) this.leases = new LeasedDatabase(this.clock, this.database);
    this.process = new Process(this, ++this.#processCount);
    this.processes = [this.process];
  }

  /** Starts the first process, and creates two instances: one whose line is online, and one without a number. */
  async begin(): Promise<void> {
    if (!this.leases) await this.database.open({ exclusive: true });
    if (!(await this.process.start())) throw new Error("the first process does not start");
    const { app, system } = this.process;
    for (const name of ["Reception", "Office"]) this.instances.push((await app.instances.create(ALICE, { name })).id);
    const activeInstance = this.instances[0] as string;
    await app.instances.configure(ALICE, activeInstance);
    await this.line(activeInstance)?.scan();
    await system.settle();
    this.linkedIds.add(activeInstance);
  }

  /**
   * Replaces a dead process, or waits until a process owns the database again. Repairs a storage that prevents a start.
   */
  async revive(): Promise<void> {
    if (this.leases) return this.process.isAlive && !this.#owner ? undefined : this.waitForOwner();
    // The database's lock is free once the dead process has no operation in progress.
    if (!this.process.isAlive) await this.clock.settle();
    for (let tries = 0; !this.process.isAlive; tries++) {
      this.process = this.#next(this.process);
      if (await this.process.start()) return;
      this.findings.expect("no-surprise", tries < 3, "the application does not start");
      this.findings.assertNone();
      if (tries > 0) this.storageFaults.heal();
    }
  }

  /** Waits until a process owns the database. */
  async waitForOwner(): Promise<void> {
    for (let ms = 0; !this.#owner; ms += RESTART_MS) {
      this.findings.expect("no-surprise", ms < OWNER_TIMEOUT_MS, "no process owns the database");
      this.findings.assertNone();
      if (ms === OWNER_TIMEOUT_MS / 2) {
        this.storageFaults.heal();
        for (const { storage } of this.processes) storage.repair();
      }
      await this.clock.advance(RESTART_MS);
    }
    this.process = this.#owner;
  }

  /** Starts a server on another machine, which waits for the database; there are at most two. */
  startSecondServer(): void {
    if (this.processes.length > 1 || !this.process.isAlive) return;
    this.#next().begin();
  }

  /** Stops restarting dead processes. */
  unsupervise(): void {
    this.#isSupervised = false;
  }

  /** Kills every process. */
  end(): void {
    this.unsupervise();
    for (const process of [...this.processes]) process.kill();
  }

  /** Called when a process has died, for any reason. */
  onDeath(process: Process): void {
    this.processes.splice(this.processes.indexOf(process), 1);
    if (!this.leases) return;
    this.clock.after(RESTART_MS, () => {
      if (this.#isSupervised) this.#next(process).begin();
    });
  }

  /** Called for each dial, before it is carried out. */
  onDial(attempt: Attempt): void {
    const { callId, process } = attempt;
    const earlierAttempts = this.attempts.filter((other) => other.callId === callId && !other.isReturned);
    this.findings.expect("dialled-once", earlierAttempts.length === 0, () => {
      const { process: first, isPlaced, isAnswered } = earlierAttempts[0] as Attempt;
      const progress = isAnswered ? "which had answered" : isPlaced ? "which rang" : "which had dialled";
      return `process ${process.number} dialled ${callId} again, after process ${first.number}, ${progress}`;
    });
    const wasDeleted = this.#callsDeletedAtClaim.has(callId);
    this.findings.expect("deleted-is-silent", !wasDeleted, `${callId} was claimed and dialled`);
    this.attempts.push(attempt);
    this.protection.onDial(attempt);
    this.lateDials.onDial(attempt);
  }

  /** Called before each `claimNext` for an instance. */
  async onClaim(instanceId: string, callId: string, at: number): Promise<void> {
    this.protection.onClaim(callId, at);
    if (await isDeleted(this.database, instanceId)) this.#callsDeletedAtClaim.add(callId);
    else this.#callsDeletedAtClaim.delete(callId);
  }

  /** Number of an instance's calls that may be live at the same time. */
  get lines(): number {
    return this.policy.lines ?? 1;
  }

  /** An instance's open line in the current process. */
  line(instanceId: string): ScriptedLine | undefined {
    return this.process.network.lines.findLast((line) => line.instance.id === instanceId);
  }

  /** Numbers that no call has used yet. */
  newNumbers(count: number): string[] {
    return Array.from({ length: count }, () => `+1202555${2_000 + this.#numberCount++}`);
  }

  /** Every call in the database. */
  calls(): Promise<Call[]> {
    return this.database.calls.list(ALICE.userId, {}, {});
  }

  get #owner(): Process | undefined {
    return this.processes.find((process) => process.isOwner && process.isStarted);
  }

  #next(predecessor?: Process): Process {
    const process = new Process(this, ++this.#processCount, predecessor);
    this.processes.push(process);
    return process;
  }
}
