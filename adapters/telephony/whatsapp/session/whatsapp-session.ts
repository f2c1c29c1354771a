import { printableCause } from "../../../../src/base/error.ts";
import { within } from "../../../../src/base/timers.ts";
import type { Logger } from "../../../../src/ports/logger.ts";
import type { System } from "../../../../src/ports/system.ts";
import {
  type DialError,
  type LineHealth,
  type LineHost,
  NetworkSilent,
  type PairingCode,
} from "../../../../src/ports/telephony.ts";
import type { WhatsAppClient, WhatsAppClientFactory, WhatsAppVoip } from "../../../../src/ports/whatsapp-client.ts";
import type { CallPort, WhatsAppCallListener } from "../calls/call-port.ts";
import type { ResolvedNumber } from "../calls/number-resolver.ts";
import type { LoginTurns } from "./client/login-turns.ts";
import { SessionClients } from "./client/session-clients.ts";
import { StatePolls } from "./client/state-polls.ts";
import { FirstSign } from "./first-sign.ts";
import { decideSession } from "./flow/session-flow.ts";
import { healthOf, isLinked, NEW_SESSION, pollMs } from "./flow/session-health.ts";
import type { Moment, SessionEffect, SessionFlow, SessionInput, WhatsAppTimer } from "./flow/session-transitions.ts";
import { AbandonedCalls } from "./offers/abandoned-calls.ts";
import { OFFER_LIMITS_KEY } from "./offers/offer-limits.ts";
import { Offers } from "./offers/offers.ts";
import { OpenCalls } from "./offers/open-calls.ts";
import { masked } from "./phone-of.ts";
import { encodeCredentials, type SessionId } from "./records/link-credentials.ts";
import { PAST_LOGINS_KEY, pastLoginsOf, readPastLogins } from "./records/past-logins.ts";
import { StoredRecord, storedValue } from "./records/stored-record.ts";

/** Time to type a pairing code, ms. */
const PAIRING_CODE_MS = 180_000;
/** Time for which a request waits for the first code, ms. */
const FIRST_SIGN_MS = 8_000;
/** Time limit for storing a link while the line is closed, ms. */
const STORING_MS = 1_500;
/** Time limit for reading an earlier process's records, ms: the first login waits for them. */
const LOADING_MS = 2_000;

/** Options of {@link WhatsAppSession}. */
interface SessionOptions {
  readonly instanceId: string;
  readonly host: LineHost;
  readonly system: System;
  readonly logger: Logger;
  readonly client: WhatsAppClientFactory;
  /** Spreads the logins of all numbers. */
  readonly logins: LoginTurns;
}

/**
 * The session of one number: supervises its client, and carries out what `session-flow.ts` decides. Every report from
 * the client, every timer and every request is an input to that function; nothing else changes the session.
 */
export class WhatsAppSession implements CallPort {
  readonly #options: SessionOptions;
  readonly #clients: SessionClients;
  readonly #firstSign: FirstSign;
  readonly #polls: StatePolls;
  readonly #abandonedCalls: AbandonedCalls;
  readonly openCalls: OpenCalls;
  readonly #offers: Offers;
  readonly #loginRecord: StoredRecord;
  readonly #listeners = new Set<WhatsAppCallListener>();
  readonly #timers = new Map<WhatsAppTimer, () => void>();
  readonly #inbox: SessionInput[] = [];
  #isDeciding = false;
  #flow: SessionFlow = NEW_SESSION;
  #resumedId: SessionId | undefined;
  #restoration: Promise<void> | undefined;
  #linkStorage: Promise<void> | undefined;
  #shownPairing: (PairingCode & { readonly phone: string }) | undefined;

  constructor(options: SessionOptions) {
    const { instanceId, host, system, logger, logins } = options;
    this.#options = options;
    const place = logins.newPlace();
    this.#firstSign = new FirstSign(system);
    this.#polls = new StatePolls(system, () => this.#pollState());
    this.#abandonedCalls = new AbandonedCalls({
      ...{ system, port: this, listeners: this.#listeners },
      onError: (error) => this.#log("warn", "an abandoned call could not be ended", error),
    });
    this.#offers = new Offers({
      ...{ system, host },
      client: () => this.client,
      records: () => this.#clients.records,
      log: (level, message, error) => this.#log(level, message, error),
    });
    const listener = {
      timelock: () => this.#offers.check(),
      input: (input: SessionInput) => {
        // The socket is new; the client rarely reports the end of the previous socket.
        if (input.type === "accepted") this.openCalls.onConnectionLost();
        this.#handle(input);
        if (input.type === "accepted") void this.openCalls.end();
      },
      voip: (event: Parameters<WhatsAppCallListener["voip"]>[0]) => this.#notifyCalls((call) => call.voip(event)),
      stanza: (stanza: unknown) => this.#notifyCalls((call) => call.stanza(stanza)),
    };
    this.openCalls = new OpenCalls({
      ...{ system, port: this, records: () => this.#clients.records },
      isCarried: (callId) =>
        this.#abandonedCalls.isEnding(callId) || [...this.#listeners].some((call) => call.callId === callId),
      onError: (message, error) => this.#log("warn", message, error),
    });
    this.#loginRecord = new StoredRecord({
      ...{ key: PAST_LOGINS_KEY, records: () => this.#clients.records },
      value: () => pastLoginsOf(this.#flow, { now: system.monotonic(), wall: system.now() }),
      onError: (error) => this.#log("warn", "the logins of the number could not be stored", error),
    });
    const turn = async (isWanted: () => boolean) => {
      await this.#restoration;
      await logins.next(place, isWanted);
    };
    this.#clients = new SessionClients({ instanceId, host, system, logger, make: options.client, turn, listener });
  }

  get client(): WhatsAppClient | undefined {
    const { current } = this.#clients;
    return this.#flow.isOpened && current?.live().connected ? current.client : undefined;
  }

  get calls(): WhatsAppVoip | undefined {
    return this.#clients.current?.client?.voip;
  }

  async offerBlock(callee: ResolvedNumber): Promise<DialError | undefined> {
    const isStranger = !(await this.#clients.isContact(callee));
    // A number that has just come online may already be locked: its client has not reported yet.
    if (isStranger) await this.#offers.waitForQuery();
    return this.#offers.block(isStranger);
  }

  offerRefused(code: string): void {
    this.#offers.offerRefused(code);
  }

  offerAccepted(): void {
    this.#offers.offerAccepted();
  }

  /** The reason why the number may not call anyone now although it is online; undefined if it may call. */
  get pause(): DialError | undefined {
    return this.#offers.block(false);
  }

  listen(listener: WhatsAppCallListener): () => void {
    this.#listeners.add(listener);
    this.#planPoll();
    return () => {
      this.#listeners.delete(listener);
      this.#abandonedCalls.check();
      void this.openCalls.end();
      if (this.#listeners.size === 0) this.#handle({ type: "calls_ended" });
    };
  }

  /** True if the session has a linked number. */
  get hasLink(): boolean {
    return isLinked(this.#flow);
  }

  /** Connects with the keys of this session. */
  resume(sessionId: SessionId): void {
    this.#resumedId = sessionId;
    this.#restoration = this.#restoreHistory();
    this.#handle({ type: "resume" });
  }

  /** Reads an earlier process's logins and limits, before this process's first login. Never rejects. */
  async #restoreHistory(): Promise<void> {
    const { host, system } = this.#options;
    const createTimeoutError = () => new NetworkSilent(`the storage did not respond within ${LOADING_MS} ms`);
    const read = async (subject: string, key: string, use: (value: unknown) => void): Promise<void> => {
      try {
        use(await within(storedValue(host.records, key), { system, ms: LOADING_MS, timeoutError: createTimeoutError }));
      } catch (error) {
        this.#log("warn", `the ${subject} of an earlier process could not be read`, error);
      }
    };
    await Promise.all([
      read("logins", PAST_LOGINS_KEY, (logins) => this.#handle({ type: "history", ...readPastLogins(logins) })),
      read("limits", OFFER_LIMITS_KEY, (limits) => {
        if (this.hasLink) this.#offers.restore(limits);
      }),
    ]);
  }

  /**
   * Starts linking, or continues it; a halted session of a linked number connects again.
   * @throws {NetworkSilent} no code arrives; the message names the reason
   */
  async link(): Promise<void> {
    this.#offers.retry();
    this.#handle({ type: "link" });
    if (this.#flow.state !== "linking" || this.#flow.codes > 0) return;
    const fault = await this.#firstSign.wait(FIRST_SIGN_MS);
    if (fault !== undefined) throw new NetworkSilent(fault);
  }

  /**
   * A code to type on the phone with this number.
   * @throws {NetworkSilent} there is no code; the message names the reason
   */
  async pairingCode(phone: string, signal: AbortSignal): Promise<PairingCode> {
    await this.link();
    signal.throwIfAborted();
    const { system } = this.#options;
    const client = this.#clients.current;
    if (client === undefined || this.#flow.state !== "linking")
      throw new NetworkSilent(this.hasLink ? "a number is already linked" : (this.#flow.reason ?? "not linked"));
    const shownCode = this.#shownPairing;
    if (shownCode?.phone === phone && this.#flow.pairingUntil > system.monotonic())
      return { code: shownCode.code, expiresAt: shownCode.expiresAt };
    const code = await client.pairingCode(phone.replace("+", ""), signal).catch((error: unknown) => {
      signal.throwIfAborted();
      this.#log("warn", "there is no pairing code", error);
      throw new NetworkSilent("WhatsApp issued no pairing code for this number; check the number, or try again later");
    });
    const expiresAt = system.now() + PAIRING_CODE_MS;
    this.#shownPairing = { phone, code, expiresAt };
    this.#handle({ type: "pairing_code", ttlMs: PAIRING_CODE_MS });
    return { code, expiresAt };
  }

  /** The health of the line, from the client's state at this moment. */
  probe(): LineHealth {
    this.#pollState();
    return this.#offers.health(healthOf(this.#flow));
  }

  /** Removes this device at WhatsApp, if it responds in time, and forgets its keys. Never rejects. */
  async unlink(): Promise<void> {
    this.#handle({ type: "unlink" });
    await this.#clients.ended();
  }

  /** Disconnects; the number stays linked. Never rejects. */
  async close(): Promise<void> {
    const { system } = this.#options;
    // Waits for the link to be stored: otherwise only the phone would know that it has accepted this device.
    const createTimeoutError = () => new NetworkSilent("the link was not stored in time");
    if (this.#linkStorage !== undefined)
      await within(this.#linkStorage, { system, ms: STORING_MS, timeoutError: createTimeoutError }).catch(() => {});
    this.#handle({ type: "close" });
    this.#offers.stop();
    this.#abandonedCalls.stop();
    this.openCalls.stop();
    await this.#clients.ended();
  }

  #handle(input: SessionInput): void {
    this.#inbox.push(input);
    if (this.#isDeciding) return;
    this.#isDeciding = true;
    try {
      for (let next = this.#inbox.shift(); next !== undefined; next = this.#inbox.shift()) this.#decide(next);
    } finally {
      this.#isDeciding = false;
    }
    this.#abandonedCalls.check();
    this.#planPoll();
  }

  #decide(input: SessionInput): void {
    const before = this.#flow;
    const { flow, effects } = decideSession(before, input, this.#moment());
    this.#flow = flow;
    if (flow.state !== before.state || flow.reason !== before.reason)
      this.#log("debug", `${before.state} -> ${flow.state}${flow.reason === null ? "" : `: ${flow.reason}`}`);
    if (before.state === "online" && flow.state !== "online") this.openCalls.onConnectionLost();
    for (const effect of effects) this.#carryOut(effect);
    const isChanged =
      flow.reconnects.logins !== before.reconnects.logins || flow.restriction?.endsAt !== before.restriction?.endsAt;
    if ((isChanged || input.type === "link_stored") && flow.isStored && isLinked(flow)) this.#loginRecord.store();
    if (flow.state === "online" && before.state !== "online") this.#offers.check();
    this.#firstSign.update(flow, input);
  }

  #moment(): Moment {
    const { system, host } = this.#options;
    const bytes = new Uint8Array(4);
    system.random(bytes);
    const chance = new DataView(bytes.buffer).getUint32(0) / 2 ** 32;
    const now = system.monotonic();
    const inCall = this.#listeners.size > 0 || this.#abandonedCalls.hasCalls;
    const { hasStrays } = this.#clients;
    return { now, wallTime: system.now(), chance, isOwner: now < host.deadlines.send, inCall, hasStrays };
  }

  #carryOut(effect: SessionEffect): void {
    const { host, system } = this.#options;
    const clients = this.#clients;
    switch (effect.do) {
      case "poll_state":
        this.#pollState();
        break;
      case "open_client":
        clients.open();
        break;
      case "connect":
        clients.reconnect(isLinked(this.#flow), this.#resumedId);
        break;
      case "disconnect":
        void clients.current?.disconnect();
        break;
      case "drop_client":
        clients.drop();
        break;
      case "log_out":
        clients.logOut();
        break;
      case "forget":
        this.#offers.reset();
        clients.forget();
        this.openCalls.clear();
        this.#loginRecord.discard();
        this.#shownPairing = undefined;
        break;
      case "show_code":
        host.code({ payload: effect.qr, expiresAt: system.now() + effect.ttlMs, sequence: effect.sequence });
        break;
      case "store_link":
        this.#linkStorage = this.#storeLink(effect.phone);
        break;
      case "report_online":
        host.online();
        break;
      case "report_offline":
        host.offline(effect.reason, effect.lasting);
        break;
      case "report_unlinked":
        host.unlinked(effect.reason);
        break;
      case "report_condition":
        host.condition(effect.condition, effect.reason);
        break;
      case "calls_lost":
        this.#notifyCalls((call) => call.lost(effect.reason, effect.isPermanent));
        break;
      case "end_calls":
        this.#notifyCalls((call) => call.end(effect.reason));
        break;
      case "calls_restored":
        this.#notifyCalls((call) => call.restored());
        void this.openCalls.end();
        break;
      case "start_timer": {
        const { timer, ms } = effect;
        this.#timers.get(timer)?.();
        this.#timers.set(
          timer,
          system.after(ms, () => this.#handle({ type: "timer", timer })),
        );
        break;
      }
      case "stop_timer":
        this.#timers.get(effect.timer)?.();
        break;
      case "log":
        this.#log(effect.level, effect.message);
        break;
    }
  }

  /** Has the core store the link, once all its keys are stored. Never rejects. */
  async #storeLink(phone: string | null): Promise<void> {
    const { current, sessionId } = this.#clients;
    if (current === undefined || sessionId === undefined) return;
    const isStored = await this.#clients
      .flushed()
      .then(() => this.#options.host.linked(phone, encodeCredentials(sessionId)))
      .then(
        () => true,
        () => false,
      );
    if (this.#clients.current === current) this.#handle({ type: isStored ? "link_stored" : "link_refused" });
  }

  #notifyCalls(report: (call: WhatsAppCallListener) => void): void {
    for (const listener of [...this.#listeners]) report(listener);
  }

  #pollState(): void {
    const client = this.#clients.current;
    this.#polls.recordPoll();
    if (client !== undefined) this.#handle({ type: "state", ...client.live() });
  }

  #planPoll(): void {
    this.#polls.plan(pollMs(this.#flow));
  }

  #log(level: "debug" | "info" | "warn" | "error", message: string, error?: unknown): void {
    const { logger, instanceId } = this.#options;
    const fields = { instance_id: instanceId, ...(error !== undefined && { err: printableCause(error, masked) }) };
    logger[level](fields, `whatsapp: ${message}`);
  }
}
