import { sqliteStorage } from "../../../adapters/storage/sqlite.ts";
import type { StreamAttachment } from "../../../src/application/streams/stream-client.ts";
import type { Call } from "../../../src/domain/call.ts";
import type { QueuePolicy } from "../../../src/domain/queue-policy.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import type { ScriptedLine } from "../../../src/testing/scripted-telephony.ts";
import { ALICE } from "../../support/application.ts";
import type { RecordingClient } from "../../support/recording-client.ts";
import { AdapterFaults } from "./adapter-faults.ts";
import { isDeleted } from "./check-deletion.ts";
import { EventReader } from "./event-reader.ts";
import { Findings } from "./invariant.ts";
import type { Attempt } from "./model-network.ts";
import { Process, type Shared } from "./process.ts";
import { Requests } from "./requests.ts";
import { StorageFaults } from "./storage-faults.ts";

/** A client, and the stream that it was attached to. */
export interface Attached {
  readonly client: RecordingClient;
  readonly attachment: StreamAttachment;
  readonly callId: string;
  readonly process: Process;
}

const LINE_BUSY_MS = 5_000;

/** One run of the model: a database, the processes that came one after the other, and what was seen of them. */
export class Run implements Shared {
  readonly policy: QueuePolicy;
  readonly database: Storage = sqliteStorage({ path: ":memory:" });
  readonly storageFaults = new StorageFaults();
  readonly adapterFaults = new AdapterFaults();
  readonly findings = new Findings();
  readonly requests = new Requests(this.findings);
  readonly reader = new EventReader(this.database, ALICE.userId);
  /** The ids of all instances that were answered with 201. */
  readonly instances: string[] = [];
  /** Instances whose linking was answered, and that nobody has unlinked or deleted since. */
  readonly linked = new Set<string>();
  /** Calls that were answered with 201. */
  readonly created = new Set<string>();
  readonly clients: Attached[] = [];
  readonly attempts: Attempt[] = [];
  /** Final calls as they were first seen. */
  readonly ended = new Map<string, Call>();
  /** Instances that were deleted already when their next call was last asked for. */
  readonly #goneAtClaim = new Set<string>();
  /** Faults that an operator's log is there for. */
  alarming = false;
  process: Process;

  constructor(policy: QueuePolicy) {
    this.policy = policy;
    this.process = new Process(this);
  }

  /** Two instances: one whose line is online, and one without a number. */
  async begin(): Promise<void> {
    await this.database.open({ exclusive: true });
    await this.process.start();
    const { world } = this.process;
    const [active, created] = [await world.activeInstance(), await world.newInstance()];
    this.instances.push(active.id, created.id);
    this.linked.add(active.id);
  }

  /** Puts a new process in the place of a dead one. A storage that keeps it from starting is mended. */
  async revive(): Promise<void> {
    for (let tries = 0; !this.process.alive; tries++) {
      const dead = this.process;
      this.process = new Process(this, dead);
      for (const { leg, instanceId } of dead.network.attempts)
        if (leg?.live) this.process.network.busyUntil.set(instanceId, LINE_BUSY_MS);
      if (await this.process.start()) return;
      this.findings.expect("no-surprise", tries < 3, "the application does not start");
      this.findings.assertNone();
      if (tries > 0) this.storageFaults.heal();
    }
  }

  dialled(attempt: Attempt): void {
    const { callId, instanceId, process } = attempt;
    const before = this.attempts.filter((other) => other.callId === callId && !other.givenBack);
    this.findings.expect("dialled-once", before.length === 0, () => {
      const { process: first, placed, answered } = before[0] as Attempt;
      const far = answered ? "which had answered" : placed ? "which rang" : "which was asked";
      return `process ${process} dialled ${callId} again, after process ${first}, ${far}`;
    });
    const gone = this.#goneAtClaim.has(instanceId);
    this.findings.expect("deleted-is-silent", !gone, `${callId} was claimed and dialled`);
    this.attempts.push(attempt);
  }

  async claiming(instanceId: string): Promise<void> {
    if (await isDeleted(this.database, instanceId)) this.#goneAtClaim.add(instanceId);
    else this.#goneAtClaim.delete(instanceId);
  }

  /** The open line of an instance in the present process. */
  line(instanceId: string): ScriptedLine | undefined {
    return this.process.network.lines.findLast((line) => line.instance.id === instanceId);
  }

  /** Every call, as the database has it. */
  calls(): Promise<Call[]> {
    return this.database.calls.list(ALICE.userId, {}, {});
  }
}
