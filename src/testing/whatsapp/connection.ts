import type { System } from "../../ports/system.ts";
import type { LineRecords } from "../../ports/telephony/line-records.ts";
import type { WhatsAppNumber } from "../../ports/whatsapp-client.ts";
import type { FakeWhatsAppCall } from "./call.ts";
import type { FakeWhatsAppClient } from "./client.ts";
import type { FakeIncomingCall } from "./incoming-call.ts";
import type { FakeReachoutTimelock } from "./offer-refusals.ts";
import type { Pairing } from "./pairing.ts";
import { type FakeCredentials, loadTestSession, saveSession } from "./session-record.ts";
import { childOf, type FakeStanza } from "./stanza.ts";
import type { FakeVoip } from "./voip.ts";

/** Dependencies of a client on its network. */
export interface FakeNetwork {
  readonly system: System;
  readonly latencyMs: number;
  readonly maxConcurrentCalls: number;
  /** True if clients download the history of a new link. */
  readonly history: boolean;
  /** True if clients support time-locks of their number. */
  readonly timelock: boolean;
  readonly reachable: boolean;
  readonly newId: () => string;
  readonly resolveJid: (jid: string) => string;
  lookUp(digits: string): WhatsAppNumber;
  /** Logs in a client that has opened its socket. */
  login(client: FakeWhatsAppClient, credentials: FakeCredentials | null): void;
  onLogout(client: FakeWhatsAppClient): void;
  /** Handles a client's offer of a call; throws if the callee has no devices. */
  offer(
    client: FakeWhatsAppClient,
    voip: FakeVoip,
    call: {
      readonly callId: string;
      readonly peerJid: string;
      readonly creator: string;
      readonly token: Uint8Array | undefined;
    },
  ): FakeWhatsAppCall;
  /** The time-lock of a client's number. */
  timelockOf(client: FakeWhatsAppClient): FakeReachoutTimelock;
  incoming(callId: string): FakeIncomingCall | undefined;
  /** Called when a client has sent a stanza of its program. @param creator the client's own address */
  onSent(stanza: FakeStanza, creator: string): void;
}

/** Options of {@link FakeConnection}. */
interface ConnectionOptions {
  readonly network: FakeNetwork;
  readonly records: LineRecords;
  readonly pairing: Pairing;
  readonly emit: (event: string, argument: unknown) => void;
  readonly login: (credentials: FakeCredentials | null) => void;
}

/** Reasons with which the server unlinks the device, by status code. */
const UNLINK_REASONS: ReadonlyMap<number, string> = new Map([
  [401, "failure_not_authorized"],
  [403, "failure_locked"],
  [406, "failure_banned"],
]);
/** Reasons with which the server closes the connection, by status code; the device stays linked. */
const CLOSE_REASONS: ReadonlyMap<number, string> = new Map([
  [405, "failure_client_too_old"],
  [409, "failure_bad_user_agent"],
  [503, "failure_service_unavailable"],
]);
const CONNECT_TIMEOUT_MS = 10_000;
/** Delay before the client reopens a dropped socket, ms. */
export const RECONNECT_MS = 2000;

/** The socket and the session of a client. `none`: never opened or closed; `down`: dropped, and about to reconnect. */
export class FakeConnection {
  readonly #options: ConnectionOptions;
  #socket: "none" | "up" | "down" = "none";
  #credentials: FakeCredentials | null = null;
  #isLoaded = false;
  #isUsedUp = false;
  #connectPromise: Promise<void> | undefined;
  /** Stall in which sent and received messages get lost unnoticed by the client. */
  #stall: { readonly promise: Promise<void>; readonly end: () => void } | undefined;
  /**
   * Number of connects and closes; each starts another generation, and later steps of an earlier one have no effect.
   */
  #generation = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#socket === "up";
  }

  /** True if the socket is dead, and the client has not noticed. */
  get isStalled(): boolean {
    return this.#stall !== undefined;
  }

  /** Null if the client is not linked, or has not read its session yet. */
  get credentials(): FakeCredentials | null {
    return this.#credentials;
  }

  /** Like {@link credentials}, but empty for an unlinked client that has connected. */
  get loadedCredentials(): FakeCredentials | Record<string, never> | null {
    return this.#credentials ?? (this.#isLoaded ? {} : null);
  }

  connect(): Promise<void> {
    if (this.#isUsedUp) return Promise.reject(new Error("the client has logged out: make a new one"));
    this.#connectPromise ??= this.#open().finally(() => {
      this.#connectPromise = undefined;
    });
    return this.#connectPromise;
  }

  disconnect(): void {
    this.#close();
    this.#emitClose("client_disconnected", null, false);
  }

  /** Sends a request to the server and awaits the response. Rejects if the socket is down. */
  async request(): Promise<void> {
    if (!this.isUp) throw new Error("client is not connected");
    if (this.#stall) await this.#stall.promise;
    else await this.#latency();
    if (!this.isUp) throw new Error("client is not connected");
  }

  /** Sends a message that gets no response; returns false if it gets lost. Throws an Error if the socket is down. */
  write(): boolean {
    if (!this.isUp) throw new Error("noise session not ready");
    return !this.isStalled;
  }

  /** Kills the socket; the client notices after a while, and opens another one. */
  stall(noticedAfterMs: number): void {
    if (!this.isUp || this.isStalled) return;
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const stall = { promise, end };
    this.#stall = stall;
    const { system, latencyMs } = this.#options.network;
    system.after(noticedAfterMs, () => {
      if (this.#stall === stall) this.drop(latencyMs);
    });
  }

  /** Drops the socket, which reconnects automatically once the network is reachable. */
  drop(reconnectAfterMs: number): void {
    if (this.#socket !== "up") return;
    this.#socket = "down";
    this.#endStall();
    const generation = this.#generation;
    const reconnect = (): void => {
      if (this.#socket !== "down" || this.#generation !== generation) return;
      if (!this.#options.network.reachable) return void this.#options.network.system.after(RECONNECT_MS, reconnect);
      this.#socket = "up";
      this.#options.login(this.#credentials);
    };
    if (reconnectAfterMs !== Infinity) this.#options.network.system.after(reconnectAfterMs, reconnect);
  }

  async streamError(stanza: FakeStanza): Promise<void> {
    const code = Number(stanza.attrs.code ?? 0);
    const kind = childOf(stanza)?.attrs.type;
    if (code === 515) {
      this.#close();
      this.#emitClose("stream_error_force_login", code, false);
      await this.#reopen();
    } else if (code === 516) {
      await this.#unlink("stream_error_force_logout", code);
      this.#isUsedUp = false;
      await this.#reopen(); // even if it was disconnected in the meantime
    } else if (kind === "device_removed") await this.#unlink("stream_error_device_removed", null);
    else if (kind === "replaced") {
      this.#close();
      this.#emitClose("stream_error_replaced", null, false);
    } else this.drop(this.#options.network.latencyMs); // the client opens another socket, without an event
  }

  async failure(stanza: FakeStanza): Promise<void> {
    const reason = Number(stanza.attrs.reason);
    const { code, message } = stanza.attrs;
    this.#options.emit("stream_failure", {
      rawNode: stanza,
      failureReason: reason,
      failureCode: code === undefined ? undefined : Number(code),
      failureMessage: message,
    });
    const unlinkReason = UNLINK_REASONS.get(reason);
    const closeReason = CLOSE_REASONS.get(reason);
    if (unlinkReason !== undefined) await this.#unlink(unlinkReason, reason);
    else if (closeReason !== undefined) {
      this.#close();
      this.#emitClose(closeReason, reason, false);
    } else this.drop(RECONNECT_MS); // the server closes the socket, and the client simply logs in again
  }

  /** Called when WhatsApp has accepted the login. */
  onAccepted(stanza: FakeStanza): void {
    this.#options.emit("debug_connection_success", { node: stanza });
  }

  /** Called when a phone has linked the client: stores the session, reports it, and opens again as a linked device. */
  async onPaired(credentials: FakeCredentials): Promise<void> {
    if (this.#credentials !== null) return;
    this.#credentials = credentials;
    try {
      await saveSession(this.#options.records, credentials);
    } catch {
      return; // the real client logs it, and pairing stops
    }
    this.#options.pairing.stopCodes();
    this.#options.emit("auth_paired", { credentials });
    this.#options.network.system.after(0, () => void this.#openLinked());
  }

  async #open(): Promise<void> {
    if (this.#socket === "none") await this.#start(++this.#generation);
    // The real client reports this even if a socket existed already, working or broken.
    if (this.#credentials !== null) this.#emitOpen("connected", false);
  }

  async #reopen(): Promise<void> {
    try {
      await this.#start(++this.#generation);
    } catch {
      return; // the real client logs it, and stays closed
    }
    if (this.#credentials !== null) this.#emitOpen("reconnected", false);
  }

  async #openLinked(): Promise<void> {
    if (this.#socket === "none" || this.#credentials === null) return;
    this.#socket = "none";
    try {
      await this.#start(++this.#generation);
    } catch {
      return; // as above: linked, and not connected
    }
    this.#emitOpen("connected", true);
  }

  async #start(generation: number): Promise<void> {
    const { network, records, login } = this.#options;
    const credentials = (await loadTestSession(records)) ?? null;
    this.#assertCurrent(generation);
    this.#credentials = credentials;
    this.#isLoaded = true;
    if (!network.reachable) {
      await this.#wait(CONNECT_TIMEOUT_MS);
      this.#assertCurrent(generation);
      throw new Error(`comms connection timeout after ${CONNECT_TIMEOUT_MS}ms`);
    }
    await this.#latency();
    this.#assertCurrent(generation);
    this.#socket = "up";
    login(credentials);
    this.#assertCurrent(generation); // the server may have refused at once
  }

  async #unlink(reason: string, code: number | null): Promise<void> {
    this.#close();
    this.#isUsedUp = true;
    this.#emitClose(reason, code, true);
    this.#credentials = null;
    await saveSession(this.#options.records, undefined).catch(() => {}); // the session then stays in the records
  }

  #close(): void {
    this.#generation++;
    this.#socket = "none";
    this.#endStall();
    this.#options.pairing.clear();
  }

  #endStall(): void {
    this.#stall?.end();
    this.#stall = undefined;
  }

  #emitOpen(reason: "connected" | "reconnected", isNewLogin: boolean): void {
    this.#options.emit("connection", { status: "open", reason, code: null, isLogout: false, isNewLogin });
  }

  #emitClose(reason: string, code: number | null, isLogout: boolean): void {
    this.#options.emit("connection", { status: "close", reason, code, isLogout, isNewLogin: false });
  }

  #assertCurrent(generation: number): void {
    if (this.#generation !== generation) throw new Error("start comms superseded by newer lifecycle");
  }

  #latency(): Promise<void> {
    return this.#wait(this.#options.network.latencyMs);
  }

  #wait(ms: number): Promise<void> {
    return ms === 0 ? Promise.resolve() : new Promise((resolve) => this.#options.network.system.after(ms, resolve));
  }
}
