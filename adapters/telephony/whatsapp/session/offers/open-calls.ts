import { toHex } from "../../../../../src/base/hex.ts";
import type { System } from "../../../../../src/ports/system.ts";
import type { LineRecords } from "../../../../../src/ports/telephony/line-records.ts";
import type { WhatsAppClient } from "../../../../../src/ports/whatsapp-client.ts";
import type { CallPort, OpenCallLog } from "../../calls/call-port.ts";
import { ownAddresses } from "../../calls/client-addresses.ts";
import { isConnected } from "../../calls/is-connected.ts";
import { readJid } from "../../calls/jid.ts";
import { StoredRecord, storedValue } from "../records/stored-record.ts";

/** Key of the record that lists a number's open calls. */
const KEY = "ringport/open-calls";
/**
 * Maximum number of open calls. A number carries one call at a time; the others wait for a connection over which they
 * can be ended.
 */
const MAX_OPEN_CALLS = 8;
/** Age beyond which a call is considered ended even without a terminate, ms. */
export const MAX_OPEN_MS = 24 * 3_600_000;
/**
 * Age above which a terminate has certainly arrived when its connection is found to be dead, ms:
 * the client pings every 15 s if no request is open, or half a minute if one is, and waits 20 s for the pong.
 */
export const MAX_UNNOTICED_MS = 60_000;
const MAX_ID_LENGTH = 100;

/** One of our calls whose callee may not know that it has ended. */
interface OpenCall {
  readonly callId: string;
  /** Address for its terminate: the callee or, once a device has accepted, that device. */
  readonly peer: string;
  /** Address of the device that has sent the offer: WhatsApp accepts the end of the call only from this device. */
  readonly creator: string;
  /** Time of the offer, ms since 1970-01-01 UTC. */
  readonly at: number;
}

/** Options of {@link OpenCalls}. */
export interface OpenCallsOptions {
  readonly system: Pick<System, "now" | "monotonic" | "random" | "after">;
  readonly port: Pick<CallPort, "client" | "calls">;
  /** The number's records; undefined if no client uses them. */
  readonly records: () => LineRecords | undefined;
  /** True if a leg carries the call, or the client is ending it. */
  readonly isCarried: (callId: string) => boolean;
  readonly onError: (message: string, error: unknown) => void;
}

/**
 * A number's calls whose callees may not know that they have ended, stored with the number's keys. A crash, another
 * client that takes over the link, and a reconnect that the client's calls do not survive leave a phone ringing or
 * connected: once the number is online again, such a call gets the missing terminate.
 */
export class OpenCalls implements OpenCallLog {
  readonly #options: OpenCallsOptions;
  readonly #calls = new Map<string, OpenCall>();
  /** Times at which the terminates of calls were sent over the current connection, monotonic ms, in order. */
  readonly #terminatedAt = new Map<string, number>();
  #cancelSettling: (() => void) | undefined;
  #loadPromise: Promise<void> | undefined;
  /** Counts the number's links. */
  #generation = 0;
  readonly #record: StoredRecord;

  constructor(options: OpenCallsOptions) {
    this.#options = options;
    this.#record = new StoredRecord({
      key: KEY,
      records: options.records,
      value: () => (this.#calls.size === 0 ? undefined : [...this.#calls.values()]),
      load: () => this.#load(), // otherwise calls not yet read would be lost
      onError: (error) => options.onError("the calls in progress could not be stored", error),
    });
  }

  add(callId: string, peer: string, creator: string): void {
    this.#terminatedAt.delete(callId); // an offer may leave after a terminate
    const existing = this.#calls.get(callId);
    if (existing?.peer === peer) return;
    const [oldest] = [...this.#terminatedAt.keys(), ...this.#calls.keys()];
    if (existing === undefined && this.#calls.size >= MAX_OPEN_CALLS && oldest !== undefined) this.#forget(oldest);
    this.#calls.set(callId, { callId, peer, creator, at: existing?.at ?? this.#options.system.now() });
    this.#record.store();
  }

  recordAcceptance(callId: string, device: string): void {
    const call = this.#calls.get(callId);
    if (call === undefined || call.peer === device) return;
    this.#calls.set(callId, { ...call, peer: device });
    this.#record.store();
  }

  recordTermination(callId: string): void {
    if (!this.#calls.has(callId)) return;
    this.#terminatedAt.delete(callId);
    this.#terminatedAt.set(callId, this.#options.system.monotonic());
    this.#settleLater();
  }

  delete(callId: string): void {
    if (this.#forget(callId)) this.#record.store();
  }

  /** Handles a lost connection: the terminates sent over it may not have arrived. */
  onConnectionLost(): void {
    this.#terminatedAt.clear();
    this.stop();
  }

  stop(): void {
    this.#cancelSettling?.();
    this.#cancelSettling = undefined;
  }

  /** Forgets all calls, because the records are being deleted. */
  clear(): void {
    this.onConnectionLost();
    this.#calls.clear();
    this.#generation++;
    this.#loadPromise = Promise.resolve(); // a later link has left no calls
    this.#record.discard();
  }

  async end(): Promise<void> {
    try {
      await this.#load();
      if (this.#record.isDirty) this.#record.store();
    } catch (error) {
      this.#options.onError("the calls of an earlier process could not be read", error);
    }
    const { port, isCarried, system } = this.#options;
    for (const call of [...this.#calls.values()]) {
      const { client } = port;
      if (client === undefined || !isConnected(client)) return;
      if (!this.#calls.has(call.callId)) continue; // it ended while another call was being ended
      if (this.#terminatedAt.has(call.callId) || isCarried(call.callId) || this.#isAtClient(call.callId)) continue;
      const addresses = ownAddresses(client);
      if (addresses.length === 0) return;
      const canEnd = addresses.includes(call.creator) && Math.abs(system.now() - call.at) < MAX_OPEN_MS;
      if (canEnd) await this.#terminate(client, call);
      else this.delete(call.callId);
    }
  }

  #forget(callId: string): boolean {
    this.#terminatedAt.delete(callId);
    return this.#calls.delete(callId);
  }

  /** Forgets the calls whose terminate has arrived. */
  #settleLater(): void {
    const { system } = this.#options;
    const [firstSentAt] = this.#terminatedAt.values();
    if (firstSentAt === undefined || this.#cancelSettling !== undefined) return;
    this.#cancelSettling = system.after(Math.max(0, firstSentAt + MAX_UNNOTICED_MS - system.monotonic()), () => {
      this.#cancelSettling = undefined;
      for (const [callId, at] of [...this.#terminatedAt])
        if (system.monotonic() - at >= MAX_UNNOTICED_MS) this.delete(callId);
      this.#settleLater();
    });
  }

  async #terminate(client: WhatsAppClient, call: OpenCall): Promise<void> {
    const { onError } = this.#options;
    const message = "the callee of a call left open by a crash or an outage was not informed of its end";
    this.recordTermination(call.callId); // marked before it is sent, so that it is sent once
    try {
      if (client.lowlevel?.sendNode === undefined) throw new TypeError("the client has no lowlevel.sendNode");
      await client.lowlevel.sendNode(this.#terminateOf(call));
      if (isConnected(client)) return;
    } catch (error) {
      onError(message, error);
    }
    this.#terminatedAt.delete(call.callId); // it is sent again over the next connection
  }

  #terminateOf({ callId, peer, creator }: OpenCall): object {
    const random = new Uint8Array(16);
    this.#options.system.random(random);
    const attrs = { "call-id": callId, "call-creator": creator };
    const stanzaAttrs = { to: peer, id: toHex(random).toUpperCase() };
    return { tag: "call", attrs: stanzaAttrs, content: [{ tag: "terminate", attrs }] };
  }

  /** True if the client still has the call, and ends it itself. */
  #isAtClient(callId: string): boolean {
    try {
      const call = this.#options.port.calls?.getCall(callId) ?? null;
      return call !== null && call.stateData.state !== "ended";
    } catch {
      return false;
    }
  }

  /** Reads an earlier process's calls, unless they have already been read. */
  #load(): Promise<void> {
    this.#loadPromise ??= this.#read().catch((error: unknown) => {
      this.#loadPromise = undefined; // the next call reads again
      throw error;
    });
    return this.#loadPromise;
  }

  async #read(): Promise<void> {
    const generation = this.#generation;
    const value = await storedValue(this.#options.records(), KEY);
    if (!Array.isArray(value) || generation !== this.#generation) return;
    for (const call of value.slice(0, MAX_OPEN_CALLS).flatMap((entry) => readCall(entry) ?? []))
      if (!this.#calls.has(call.callId)) this.#calls.set(call.callId, call);
  }
}

/** A stored call; undefined for other content. */
function readCall(entry: unknown): OpenCall | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { callId, peer, creator, at } = entry as Readonly<Record<string, unknown>>;
  if (typeof callId !== "string" || callId.length > MAX_ID_LENGTH || typeof at !== "number") return undefined;
  if (readJid(peer) === undefined || readJid(creator) === undefined) return undefined;
  return { callId, peer: peer as string, creator: creator as string, at };
}
