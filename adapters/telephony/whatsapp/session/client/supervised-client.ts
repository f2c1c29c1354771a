import { printableCause } from "../../../../../src/base/error.ts";
import { within } from "../../../../../src/base/timers.ts";
import type { Logger } from "../../../../../src/ports/logger.ts";
import type { System } from "../../../../../src/ports/system.ts";
import { NetworkSilent } from "../../../../../src/ports/telephony.ts";
import type { WhatsAppClient } from "../../../../../src/ports/whatsapp-client.ts";
import type { VoipEvent } from "../../calls/call-port.ts";
import { isConnected } from "../../calls/is-connected.ts";
import type { LiveState, SessionInput } from "../flow/session-transitions.ts";
import { masked } from "../phone-of.ts";
import { AcceptedLogin } from "./accepted-login.ts";
import { CLIENT_EVENTS, type ClientEventName, readClientEvent } from "./client-events.ts";
import { ClientWiring } from "./client-wiring.ts";
import { isTimelockEvent, TIMELOCK_EVENT } from "./timelock.ts";

/** Time limits for a client, ms: creation, disconnecting, coming online for a logout, logging out, getting a code. */
const CREATE_MS = 30_000;
const DISCONNECTING_MS = 3_000;
const ONLINE_MS = 3_000;
const LOGOUT_MS = 3_000;
const PAIRING_MS = 20_000;
/** Wait before a client that did not disconnect is disconnected again, ms; doubled with each attempt. */
const DISCONNECT_RETRY_MS = 2_000;
const MAX_ATTEMPTS = 8;
/** Interval for checking whether a client to be logged out is online, ms. */
const ONLINE_CHECK_MS = 200;

/** Receives a client's reports. */
export interface WhatsAppClientListener {
  input(input: SessionInput): void;
  voip(event: VoipEvent): void;
  stanza(stanza: unknown): void;
  /** Called when WhatsApp has changed the number's time-lock. */
  timelock(): void;
}

/** Options of {@link SupervisedClient}. */
export interface SupervisedClientOptions {
  readonly make: () => WhatsAppClient | Promise<WhatsAppClient>;
  /** Resolves when the number may log in; may never do so once `isWanted` returns false. */
  readonly turn: (isWanted: () => boolean) => Promise<void>;
  readonly system: System;
  readonly logger: Logger;
  readonly instanceId: string;
  readonly listener: WhatsAppClientListener;
}

/**
 * A client, from its creation to its removal. Its promises may hang, reject or settle late, and its events may arrive
 * at any time: the session sees all of this only as inputs.
 */
export class SupervisedClient {
  readonly #options: SupervisedClientOptions;
  #creation: Promise<WhatsAppClient> | undefined;
  #client: WhatsAppClient | undefined;
  readonly #wiring: ClientWiring;
  #disconnectPromise: Promise<void> | undefined;
  /** Number of attempts to disconnect that have failed in a row. */
  #failedDisconnectCount = 0;
  #dropPromise: Promise<void> | undefined;
  #isDropped = false;
  /** True if the client should be connected. */
  #isWanted = false;
  /** Counts the attempts to connect; only the latest one may proceed. */
  #attemptCount = 0;
  readonly #login: AcceptedLogin;
  /** True if the client did not disconnect in time, or before its next connection: its state is unknown. */
  isStuck = false;

  constructor(options: SupervisedClientOptions) {
    this.#options = options;
    this.#login = new AcceptedLogin(() => options.system.monotonic());
    this.#wiring = new ClientWiring((error, message) => this.#warn(error, message));
  }

  /**
   * True if the client was dropped but did not disconnect: it may reconnect automatically during further attempts.
   */
  get isStray(): boolean {
    return this.#isDropped && this.#failedDisconnectCount > 0 && this.#failedDisconnectCount <= MAX_ATTEMPTS;
  }

  /** The client itself; undefined before its creation and after it has been dropped. */
  get client(): WhatsAppClient | undefined {
    return this.#isDropped ? undefined : this.#client;
  }

  /**
   * Creates the client if needed, and connects it. Failures are reported. @param logsIn true to wait for its turn to
   * log in
   */
  connect(logsIn: boolean): void {
    void this.#connect(logsIn).catch((error: unknown) => {
      if (this.#isDropped || this.#disconnectPromise !== undefined) return; // it was ended on purpose
      this.#warn(error, "the WhatsApp client could not connect");
      const reason =
        this.#client === undefined
          ? "the WhatsApp client could not be created"
          : "the WhatsApp client could not connect";
      this.#report({ type: "failed", reason });
    });
  }

  /** The client's current state. */
  live(): LiveState {
    const { connected, registered } = this.#state();
    const isAccepted = this.#login.isAccepted(connected);
    return { isOpen: connected, connected: connected && (isAccepted || !registered), registered };
  }

  #state(): Omit<LiveState, "isOpen"> {
    try {
      const { connected, registered } = this.client?.getState() ?? { connected: false, registered: false };
      return { connected: connected === true, registered: registered === true };
    } catch (error) {
      this.#warn(error, "the state of the WhatsApp client could not be read");
      return { connected: false, registered: false };
    }
  }

  /** Requests a code to type on the phone. @param digits the number without its plus */
  async pairingCode(digits: string, signal: AbortSignal): Promise<string> {
    const { client } = this;
    if (client === undefined) throw new Error("the client was closed");
    const code: unknown = await this.#withTimeout(
      async () => client.auth.requestPairingCode(digits),
      PAIRING_MS,
      signal,
    );
    if (typeof code !== "string" || !/^[0-9A-Za-z]{4}-?[0-9A-Za-z]{4}$/.test(code))
      throw new Error("the client returned no pairing code");
    return code;
  }

  /** Ends the connection. Never rejects, and takes a limited time. */
  disconnect(): Promise<void> {
    this.#isWanted = false;
    return this.#client === undefined ? Promise.resolve() : this.#end(this.#client);
  }

  #end(client: WhatsAppClient): Promise<void> {
    this.#disconnectPromise ??= this.#withTimeout(async () => client.disconnect(), DISCONNECTING_MS)
      .then(() => {
        this.#failedDisconnectCount = 0;
      })
      .catch((error: unknown) => {
        this.isStuck ||= error instanceof NetworkSilent;
        this.#warn(error, "the WhatsApp client did not disconnect cleanly");
        this.#disconnectAgain();
      })
      .finally(() => {
        this.#disconnectPromise = undefined;
      });
    return this.#disconnectPromise;
  }

  /**
   * Disconnects the client again: one that stays connected could act for the number alongside another client. A client
   * that looks disconnected may only have lost its socket and reconnect automatically.
   */
  #disconnectAgain(): void {
    if (++this.#failedDisconnectCount > MAX_ATTEMPTS) return;
    this.#options.system.after(DISCONNECT_RETRY_MS * 2 ** (this.#failedDisconnectCount - 1), () => {
      if (!this.#isWanted) void this.disconnect();
    });
  }

  /** Disconnects permanently: no further reports. Never rejects; idempotent. */
  drop(): Promise<void> {
    this.#dropPromise ??= this.#drop();
    return this.#dropPromise;
  }

  async #drop(): Promise<void> {
    this.#isDropped = true;
    this.#wiring.detach();
    // After a logout (516) the client connects once more automatically, and shows an unrequested code, or nothing.
    if (this.#client !== undefined)
      for (const name of ["auth_qr", "connection"] as const)
        this.#wiring.on(this.#client, name, (event) => {
          if (name === "auth_qr" || readClientEvent(name, event)?.type === "opened") void this.disconnect();
        });
    await this.disconnect();
    const client = this.#client;
    if (client !== undefined)
      this.#options.system.after(DISCONNECT_RETRY_MS, () => {
        if (isConnected(client)) void this.disconnect();
      });
  }

  /** Removes this device at WhatsApp, if that is possible in time, and drops the client. Never rejects. */
  async logOut(): Promise<void> {
    this.#wiring.detach();
    try {
      await this.#waitUntilOnline();
      await this.#withTimeout(async () => this.#client?.logout(), LOGOUT_MS);
    } catch (error) {
      this.#warn(error, "the device could not be removed at WhatsApp: remove it on the phone, under linked devices");
    }
    await this.drop();
  }

  async #waitUntilOnline(): Promise<void> {
    const isOnline = () => {
      const { connected, registered } = this.#state();
      return connected && registered;
    };
    if (isOnline()) return;
    void this.#connect(false).catch(() => {}); // it may already be connecting
    for (let waitedMs = 0; waitedMs < ONLINE_MS; waitedMs += ONLINE_CHECK_MS) {
      await new Promise<void>((resolve) => void this.#options.system.after(ONLINE_CHECK_MS, resolve));
      if (isOnline()) return;
    }
    throw new NetworkSilent(`the client did not connect within ${ONLINE_MS} ms`);
  }

  async #connect(logsIn: boolean): Promise<void> {
    const attempt = ++this.#attemptCount;
    const isWanted = () => !this.#isDropped && this.#isWanted && this.#attemptCount === attempt;
    this.#isWanted = true;
    this.#creation ??= this.#createClient().catch((error: unknown) => {
      this.#creation = undefined; // the next attempt creates another client
      throw error;
    });
    const client = await this.#creation;
    await this.#disconnectPromise;
    if (this.#failedDisconnectCount > 0 && this.#isWanted && !this.isStuck) {
      // Its socket may still exist and reconnect unnoticed while the next connection attempt hangs.
      await this.#end(client);
      this.isStuck ||= this.#failedDisconnectCount > 0;
    }
    if (this.isStuck) {
      this.#isWanted = false; // so it is disconnected again
      throw new Error("the client has not disconnected yet");
    }
    if (logsIn) await this.#options.turn(isWanted);
    if (logsIn && isWanted()) this.#report({ type: "login" });
    if (!isWanted()) return; // it was disconnected, or should be connected again, in the meantime
    this.#login.reset();
    await client.connect();
  }

  async #createClient(): Promise<WhatsAppClient> {
    const creation = (async () => this.#options.make())();
    const client = await this.#withTimeout(() => creation, CREATE_MS).catch((error: unknown) => {
      // A client that arrives too late has never been connected.
      void creation.then((lateClient) => lateClient.disconnect()).catch(() => {});
      throw error;
    });
    if (typeof client?.connect !== "function") throw new TypeError("the factory `client` returned no WhatsApp client");
    this.#client = client;
    if (this.#isDropped) return client;
    for (const name of CLIENT_EVENTS) this.#wiring.on(client, name, (event) => this.#handleEvent(name, event));
    this.#wiring.on(client, TIMELOCK_EVENT, (event) => {
      if (isTimelockEvent(event)) this.#options.listener.timelock();
    });
    this.#wiring.attachCalls(client, this.#options.listener);
    return client;
  }

  #handleEvent(name: ClientEventName, event: unknown): void {
    const report = readClientEvent(name, event);
    if (report === undefined) return;
    if (report.type === "accepted") {
      this.#login.report();
      this.#report({ ...report, ...this.live() });
      return;
    }
    if (report.type === "closed" || report.type === "paired" || report.type === "stream_error") this.#login.reset();
    // A client ended on purpose must not open again, even if its opening overlapped with the disconnect; its end is
    // known.
    if (
      this.#disconnectPromise !== undefined &&
      (report.type === "opened" || (report.type === "closed" && !report.isLogout))
    )
      return;
    this.#report(report.type === "opened" ? { ...report, ...this.live() } : report);
  }

  #report(input: SessionInput): void {
    if (!this.#isDropped) this.#options.listener.input(input);
  }

  #withTimeout<T>(work: () => Promise<T>, ms: number, signal?: AbortSignal): Promise<T> {
    const createTimeoutError = () => new NetworkSilent(`the WhatsApp client did not respond within ${ms} ms`);
    return within(work(), { system: this.#options.system, ms, timeoutError: createTimeoutError, signal });
  }

  #warn(error: unknown, message: string): void {
    this.#options.logger.warn({ instance_id: this.#options.instanceId, err: printableCause(error, masked) }, message);
  }
}
