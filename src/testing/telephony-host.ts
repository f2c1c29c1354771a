import type {
  CredentialStore,
  Leg,
  LegEvent,
  LineCondition,
  LineHost,
  LineRecords,
  LinkCode,
  ReleaseCause,
} from "../ports/telephony.ts";

/** One report of a line to its host. */
export type HostReport =
  | { readonly type: "code"; readonly code: LinkCode }
  | { readonly type: "saved" }
  | { readonly type: "linked"; readonly phone: string | null; readonly credentials: Uint8Array | undefined }
  | { readonly type: "online" }
  | { readonly type: "offline"; readonly reason: string; readonly lasting?: boolean }
  | { readonly type: "condition"; readonly condition: LineCondition | undefined; readonly reason?: string }
  | { readonly type: "unlinked"; readonly reason: string };

/** Length to which an item is cut in the error of {@link Recorder.next}, characters. */
const MAX_ITEM = 200;

/** Records items in order; a test can wait for one of a type. */
class Recorder<Item extends { readonly type: string }> {
  readonly all: Item[] = [];
  readonly #waiters = new Set<() => void>();

  add(item: Item): void {
    this.all.push(item);
    for (const check of [...this.#waiters]) check();
  }

  /** The types of all items so far, in order. */
  get types(): string[] {
    return this.all.map((item) => item.type);
  }

  /**
   * The first item of this type, skipping the first `from` items; rejects with an Error if none arrives within `ms`.
   */
  next<Type extends Item["type"]>(type: Type, ms: number, from = 0): Promise<Extract<Item, { readonly type: Type }>> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const match = this.all.slice(from).find((item) => item.type === type);
        if (match === undefined) return;
        clearTimeout(timer);
        this.#waiters.delete(check);
        resolve(match as Extract<Item, { readonly type: Type }>);
      };
      const timer = setTimeout(() => {
        this.#waiters.delete(check);
        const items = this.all.map((item) => JSON.stringify(item).slice(0, MAX_ITEM)).join(", ");
        reject(new Error(`no "${type}" within ${ms} ms, only: ${items || "nothing"}`));
      }, ms);
      this.#waiters.add(check);
      check();
    });
  }
}

/** A host that records the reports of its line, and keeps its credentials and records in memory. */
export class TestLineHost implements LineHost {
  readonly reports: Recorder<HostReport> = new Recorder();
  /** Infinity, unless a test sets them. */
  readonly deadlines: { dial: number; send: number } = { dial: Infinity, send: Infinity };
  readonly #publicUrl: string;
  #storedBytes: Uint8Array | undefined;
  /** Set to delay {@link linked}. */
  linkedBarrier: Promise<unknown> | undefined;

  /** @param stored credentials of an earlier link */
  constructor(stored?: Uint8Array, publicUrl = "http://127.0.0.1:8080") {
    this.#storedBytes = stored;
    this.#publicUrl = publicUrl;
  }

  /** The stored credentials. */
  get stored(): Uint8Array | undefined {
    return this.#storedBytes;
  }

  readonly credentials: CredentialStore = {
    load: async () => this.#storedBytes,
    save: async (credentials) => {
      this.#storedBytes = credentials.slice();
      this.reports.add({ type: "saved" });
    },
    erase: async () => {
      this.#storedBytes = undefined;
    },
  };

  /** Contents of {@link records}, by key. */
  readonly storedRecords: Map<string, Uint8Array> = new Map();

  readonly records: LineRecords = {
    get: async (keys) => keys.map((key) => this.storedRecords.get(key)?.slice()),
    keys: async (prefix) => [...this.storedRecords.keys()].filter((key) => key.startsWith(prefix)),
    set: async (changes) => {
      for (const [key, value] of changes)
        if (value) this.storedRecords.set(key, value.slice());
        else this.storedRecords.delete(key);
    },
    clear: async () => this.storedRecords.clear(),
  };

  /** The condition that was reported last. */
  get lastCondition(): LineCondition | undefined {
    return this.reports.all.findLast((report) => report.type === "condition")?.condition;
  }

  publicUrl(): string {
    return this.#publicUrl;
  }

  code(code: LinkCode): void {
    this.reports.add({ type: "code", code });
  }

  async linked(phone: string | null, credentials?: Uint8Array): Promise<void> {
    await this.linkedBarrier;
    if (credentials) this.#storedBytes = credentials.slice();
    this.reports.add({ type: "linked", phone, credentials });
  }

  online(): void {
    this.reports.add({ type: "online" });
  }

  offline(reason: string, lasting = false): void {
    this.reports.add({ type: "offline", reason, ...(lasting && { lasting }) });
  }

  condition(condition: LineCondition | undefined, reason?: string): void {
    this.reports.add({ type: "condition", condition, ...(reason !== undefined && { reason }) });
  }

  unlinked(reason: string): void {
    this.storedRecords.clear();
    this.reports.add({ type: "unlinked", reason });
  }
}

/** Reads the events of a leg to their end. */
export class LegEvents extends Recorder<LegEvent> {
  /** Resolves after the last event. */
  readonly over: Promise<void>;

  constructor(leg: Leg) {
    super();
    this.over = this.#read(leg);
  }

  /** Reason for the end of the leg; undefined until then. */
  get cause(): ReleaseCause | undefined {
    const last = this.all.at(-1);
    return last?.type === "ended" ? last.cause : undefined;
  }

  async #read(leg: Leg): Promise<void> {
    for await (const event of leg.events) this.add(event);
  }
}
