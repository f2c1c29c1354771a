import type { Script } from "../support/sip/far-end.ts";

/** One request; `status` is undefined while, or if, there is no response. */
export interface Try {
  readonly epoch: number;
  status?: number;
}

export type Network = "sip/rounds" | "sip" | "simulator";

/** The requests and responses about an instance. */
export interface InstanceRecord {
  /** Its name and its idempotency key; for an instance with a SIP account also the account. */
  readonly name: string;
  readonly network: Network;
  id: string | undefined;
  readonly posts: Try[];
  /** True once the server has responded that it is linked. */
  linked: boolean;
  readonly deletes: Try[];
  /** True once a DELETE got 204 or 404. */
  gone: boolean;
}

/** The requests and responses about a call. */
export interface CallRecord {
  /** A number that no other call uses. */
  readonly number: string;
  readonly instance: InstanceRecord;
  readonly script: Script;
  readonly messageMs: number;
  readonly key: string | undefined;
  readonly posts: Try[];
  /** Id from a 201. */
  id: string | undefined;
  readonly deletes: Try[];
  /** The first final state that was read, as JSON. */
  final: string | undefined;
}

/** A recorded fault. */
export interface Violation {
  /** The broken rule. */
  readonly rule: string;
  /** The violation. */
  readonly subject: string;
  readonly detail: string;
  readonly round: number;
}

/** The journal of a sequence of rounds: requests, responses and violations. */
export class Journal {
  /** Number of the round and of the server process, plus a half once another server has taken over. */
  epoch = 0;
  /** Calls by number. */
  readonly calls: Map<string, CallRecord> = new Map();
  readonly instances: InstanceRecord[] = [];
  readonly violations: Violation[] = [];
  /** Near-violations, in words. */
  readonly tolerances: string[] = [];
  readonly #reported = new Set<string>();
  readonly #notes: string[] = [];
  readonly #begun: number = performance.now();

  instance(name: string, network: Network): InstanceRecord {
    const made: InstanceRecord = { name, network, id: undefined, posts: [], linked: false, deletes: [], gone: false };
    this.instances.push(made);
    return made;
  }

  call(about: Pick<CallRecord, "number" | "instance" | "script" | "messageMs" | "key">): CallRecord {
    const made: CallRecord = { ...about, posts: [], id: undefined, deletes: [], final: undefined };
    this.calls.set(made.number, made);
    return made;
  }

  /** The calls that have an id. */
  get known(): CallRecord[] {
    return [...this.calls.values()].filter(({ id }) => id !== undefined);
  }

  note(what: string): void {
    const at = (performance.now() - this.#begun).toFixed(1).padStart(9);
    this.#notes.push(`${at} round ${this.epoch} ${what}`);
  }

  /** Records a fault, each once. */
  violated(rule: string, subject: string, detail: string): void {
    const key = `${rule} ${subject}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.violations.push({ rule, subject, detail, round: this.epoch });
    this.note(`VIOLATED ${rule}: ${subject}: ${detail}`);
  }

  /** Records an outcome that no server can exclude. */
  tolerated(what: string): void {
    this.tolerances.push(`round ${this.epoch}: ${what}`);
    this.note(`TOLERATED ${what}`);
  }

  /** The whole journal, for a file. */
  text(): string {
    const calls = [...this.calls.values()].map(({ instance, ...call }) => ({ ...call, instance: instance.name }));
    const records = [...this.violations, ...this.instances, ...calls];
    return [...this.#notes, ...records.map((record) => JSON.stringify(record))].join("\n");
  }
}
