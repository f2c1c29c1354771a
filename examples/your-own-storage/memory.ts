import type {
  AccountRecord,
  AuditRecord,
  Call,
  CallQuota,
  CodeRecord,
  Consent,
  Event,
  Instance,
  LoggedEvent,
  LogPage,
  NewReceipt,
  Page,
  Receipt,
  ReceiptKey,
  RemovedCalls,
  SessionRecord,
  TokenRecord,
  TranscriptLine,
  TrustedTime,
  User,
  Webhook,
  WebhookDelivery,
} from "ringport";

/** 16 bits, two channels, at most 16 kHz. */
const RECORDED_BYTES_PER_MS = 64;

/**
 * All stored records. Records are never changed, only replaced, and no method awaits in the middle of a write: one
 * thread, so each of them is a transaction. A write checks first and stores then, so that it stores all or nothing.
 */
export class Memory {
  readonly users: Map<string, User> = new Map(); // by name
  readonly tokens: Map<string, TokenRecord> = new Map(); // by hash
  readonly loginAccounts: Map<string, AccountRecord> = new Map();
  /** Accounts whose removal has begun. */
  readonly leaving: Set<string> = new Set();
  readonly sessions: Map<string, SessionRecord> = new Map();
  readonly codes: Map<string, CodeRecord> = new Map();
  audit: readonly AuditRecord[] = [];
  readonly instances: Map<string, Instance> = new Map();
  readonly credentials: Map<string, Uint8Array> = new Map();
  readonly lineRecords: Map<string, ReadonlyMap<string, Uint8Array>> = new Map(); // by instance
  readonly consents: Map<string, Consent> = new Map(); // by user and number
  readonly calls: Map<string, Call> = new Map();
  readonly audio: Map<string, Uint8Array> = new Map();
  readonly transcripts: Map<string, TranscriptLine> = new Map(); // by call and position
  readonly events: Map<string, LoggedEvent> = new Map(); // in the order of their positions
  readonly webhooks: Map<string, Webhook> = new Map();
  readonly deliveries: Map<string, WebhookDelivery> = new Map();
  readonly receipts: Map<string, Receipt & { readonly begunAt: number }> = new Map(); // by nameOf
  /** The calls and transfers that count for their token, with the time by the clock of its quota; the id of a transfer is empty. */
  counted: { readonly callId: string; readonly tokenId: string; readonly at: number }[] = [];
  trustedTime: TrustedTime | undefined;
  /** The last position of every log. No user needs their own count: positions may have gaps. */
  #position = 0;
  readonly #eventsOfCalls: Map<string, number> = new Map();

  /** Appends events that are not in the log yet. @throws {Error} an event belongs to no instance; none was added */
  log(events: readonly Event[]): void {
    if (events.some(({ instanceId }) => !instanceId)) throw new Error("an event belongs to an instance");
    for (const event of events)
      if (!this.events.has(event.id))
        this.events.set(event.id, { ...event, position: ++this.#position, sequence: this.#nextSequence(event) });
  }

  #nextSequence({ callId }: Event): number | null {
    if (callId === null) return null;
    const sequence = (this.#eventsOfCalls.get(callId) ?? 0) + 1;
    this.#eventsOfCalls.set(callId, sequence);
    return sequence;
  }

  /** One page of the log. */
  logged({ after = 0, limit }: LogPage, willDo: (event: LoggedEvent) => boolean): LoggedEvent[] {
    return [...this.events.values()].filter((event) => event.position > after && willDo(event)).slice(0, limit);
  }

  /** Creation time of the oldest call that blocks another one; undefined if the quota has room. */
  quotaSpent(tokenId: string | null, { maxCalls, since, now = Infinity }: CallQuota): number | undefined {
    const spent = (): number | undefined => {
      const times = this.counted.filter((one) => one.tokenId === tokenId && one.at > since).map(({ at }) => at);
      return times.sort((one, other) => other - one)[maxCalls - 1];
    };
    if (spent() === undefined) return undefined;
    this.counted = this.counted.map((one) => (one.tokenId === tokenId && one.at > now ? { ...one, at: now } : one));
    return spent();
  }

  /** All texts of a call, of its events and its transcript, without the number that it is made from and the limits of its token. */
  textsOf({ from: _, allowedPrefixes: __, ...call }: Call): string {
    const events = [...this.events.values()].filter(({ callId }) => callId === call.id);
    const lines = [...this.transcripts.values()].filter(({ callId }) => callId === call.id);
    return JSON.stringify([call, events.map(({ data }) => data), lines.map(({ text }) => text)]);
  }

  /** Deletes calls with their events and transcripts; those counted after `countedSince` still count for their token. */
  remove(ids: readonly string[], countedSince = Infinity): RemovedCalls {
    this.counted = this.counted.filter(({ callId, at }) => !ids.includes(callId) || at > countedSince);
    const gone = (callId: string | null): boolean => callId !== null && ids.includes(callId);
    const events = [...this.events.values()].filter(({ callId }) => gone(callId));
    const lines = [...this.transcripts].filter(([, { callId }]) => gone(callId));
    for (const { id } of events) this.events.delete(id);
    for (const [key] of lines) this.transcripts.delete(key);
    for (const id of ids) this.calls.delete(id);
    for (const id of ids) this.#eventsOfCalls.delete(id);
    const receipts = this.blank(ids);
    return { ids, events: events.length, transcriptLines: lines.length, receipts };
  }

  /** Deletes the remaining records of a user without calls. */
  forgetUser(userId: string): void {
    for (const event of this.events.values()) if (event.userId === userId) this.events.delete(event.id);
    for (const token of this.tokens.values()) if (token.userId === userId) this.tokens.delete(token.hash);
    for (const one of this.instances.values())
      if (one.userId === userId && one.erasedAt !== null) this.instances.delete(one.id);
    for (const [name, consent] of this.consents) if (consent.userId === userId) this.consents.delete(name);
    for (const name of this.receipts.keys()) if (JSON.parse(name)[0] === userId) this.receipts.delete(name);
  }

  /** True if a user has tokens, webhooks, instances or calls. */
  hasAnythingOf(userId: string): boolean {
    const records = [this.tokens, this.webhooks, this.instances, this.calls];
    return records.some((some) => [...some.values()].some((record) => record.userId === userId));
  }

  /** Bytes that count for a user, or for the demo tokens of an instance. */
  storedBytes(owner: string): number {
    const calls = [...this.calls.values()].filter(
      ({ userId, instanceId, isDemo }) => userId === owner || (isDemo && instanceId === owner),
    );
    const ids = new Set(calls.map(({ id }) => id));
    const instances = [...this.instances.values()].filter(({ userId }) => userId === owner);
    const events = [...this.events.values()].filter(({ userId, callId }) =>
      callId === null ? userId === owner : ids.has(callId),
    );
    const lines = [...this.transcripts.values()].filter(({ callId }) => ids.has(callId));
    const files = [...this.audio].filter(([id]) => ids.has(id)).map(([, { length }]) => length);
    const recordings = calls.map(({ recordedMs }) => (recordedMs ?? 0) * RECORDED_BYTES_PER_MS);
    const records = [...calls, ...instances, ...events, ...lines].map(bytesOf);
    return [...records, ...files, ...recordings].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** True if a key has a receipt that has not expired. */
  isTaken(receipt: NewReceipt | undefined): boolean {
    if (!receipt) return false;
    const known = this.receipts.get(nameOf(receipt));
    return known !== undefined && known.begunAt >= receipt.expiredBefore;
  }

  keep({ fingerprint, begunAt, ...key }: NewReceipt, recordId: string): void {
    this.receipts.set(nameOf(key), { fingerprint, begunAt, recordId });
  }

  /** Erases the request details in receipts of removed records; returns the number of receipts. */
  blank(recordIds: readonly string[]): number {
    const found = [...this.receipts].filter(([, { recordId }]) => recordIds.includes(recordId));
    for (const [name, receipt] of found) this.receipts.set(name, { ...receipt, fingerprint: "" });
    return found.length;
  }
}

/** Bytes of a record, in round figures. */
export function bytesOf(record: unknown): number {
  return new TextEncoder().encode(JSON.stringify(record)).length;
}

/** One name for an idempotency key and whose it is. */
export function nameOf({ userId, scope, key }: ReceiptKey): string {
  return JSON.stringify([userId, scope, key]);
}

/** One page of a list, newest first; the cursor stays valid if the last item seen is deleted (ids sort by time). */
export function newestFirst<T extends { id: string; createdAt: number }>(
  list: T[],
  { after, limit }: Page,
  seam?: T,
): T[] {
  const order = (a: T, b: T): number => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
  const follows = (item: T): boolean =>
    seam ? order(seam, item) < 0 && item.id !== seam.id : item.id < (after ?? "~");
  return list.filter(follows).sort(order).slice(0, limit);
}

/** One page of a list, oldest first. */
export function oldestFirst<T extends { id: string }>(list: T[], { after = "", limit }: Page): T[] {
  return list
    .filter(({ id }) => id > after)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

/** Records by id, the newest first. */
export function byDescendingId<T extends { id: string }>(list: readonly T[]): T[] {
  return [...list].sort((a, b) => (a.id < b.id ? 1 : -1));
}
