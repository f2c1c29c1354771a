import type { Script } from "../support/sip/far-end.ts";
import type { BatchRecord } from "./batch-record.ts";

/** A request; `status` is undefined until a response arrives. */
export interface RequestAttempt {
  readonly epoch: number;
  status?: number;
}

export type Network = "sip/rounds" | "sip" | "simulator";

/** The requests and responses about an instance. */
export interface InstanceRecord {
  /** The instance's name and idempotency key; for a SIP account, also the account. */
  readonly name: string;
  readonly network: Network;
  id: string | undefined;
  readonly posts: RequestAttempt[];
  /** True once the server has responded that it is linked. */
  isLinked: boolean;
  readonly deletes: RequestAttempt[];
  /** True once a DELETE got 204 or 404. */
  isDeleted: boolean;
}

/** The requests and responses about a call. */
export interface CallRecord {
  /** A number that no other call uses. */
  readonly number: string;
  readonly instance: InstanceRecord;
  readonly script: Script;
  readonly messageMs: number;
  readonly key: string | undefined;
  readonly posts: RequestAttempt[];
  /** Id from a 201. */
  id: string | undefined;
  readonly deletes: RequestAttempt[];
  /** The first final state that was read, as JSON. */
  finalStatus: string | undefined;
}

/** A recorded fault. */
export interface Violation {
  /** The broken rule. */
  readonly rule: string;
  /** Id or name of the record. */
  readonly subject: string;
  readonly detail: string;
  readonly round: number;
}

/** The journal for a sequence of rounds: requests, responses and violations. */
export class Journal {
  /** Number of the round and of the server process, plus a half once another server has taken over. */
  epoch = 0;
  /** Calls by number. */
  readonly calls: Map<string, CallRecord> = new Map();
  readonly instances: InstanceRecord[] = [];
  batch: BatchRecord | undefined;
  readonly violations: Violation[] = [];
  /** Near-violations, in words. */
  readonly tolerances: string[] = [];
  readonly #reportedKeys = new Set<string>();
  readonly #notes: string[] = [];
  readonly #startedAt: number = performance.now();

  instance(name: string, network: Network): InstanceRecord {
    const record: InstanceRecord = {
      name,
      network,
      id: undefined,
      posts: [],
      isLinked: false,
      deletes: [],
      isDeleted: false,
    };
    this.instances.push(record);
    return record;
  }

  call(fields: Pick<CallRecord, "number" | "instance" | "script" | "messageMs" | "key">): CallRecord {
    const record: CallRecord = { ...fields, posts: [], id: undefined, deletes: [], finalStatus: undefined };
    this.calls.set(record.number, record);
    return record;
  }

  /** The calls that have an id. */
  get createdCalls(): CallRecord[] {
    return [...this.calls.values()].filter(({ id }) => id !== undefined);
  }

  note(text: string): void {
    const at = (performance.now() - this.#startedAt).toFixed(1).padStart(9);
    this.#notes.push(`${at} round ${this.epoch} ${text}`);
  }

  /** Records a fault, each fault once. */
  reportViolation(rule: string, subject: string, detail: string): void {
    const key = `${rule} ${subject}`;
    if (this.#reportedKeys.has(key)) return;
    this.#reportedKeys.add(key);
    this.violations.push({ rule, subject, detail, round: this.epoch });
    this.note(`VIOLATED ${rule}: ${subject}: ${detail}`);
  }

  /** Records an outcome that no server can rule out. */
  tolerate(text: string): void {
    this.tolerances.push(`round ${this.epoch}: ${text}`);
    this.note(`TOLERATED ${text}`);
  }

  /** The whole journal, for a file. */
  text(): string {
    const calls = [...this.calls.values()].map(({ instance, ...call }) => ({ ...call, instance: instance.name }));
    const records = [...this.violations, ...this.instances, ...calls, this.batch];
    return [...this.#notes, ...records.map((record) => JSON.stringify(record))].join("\n");
  }
}
