import { within } from "../../../../../src/base/timers.ts";
import type { System } from "../../../../../src/ports/system.ts";
import type { LineRecords } from "../../../../../src/ports/telephony/line-records.ts";
import { type DialError, type LineHealth, type LineHost, NetworkSilent } from "../../../../../src/ports/telephony.ts";
import type { WhatsAppClient } from "../../../../../src/ports/whatsapp-client.ts";
import { TIMELOCK_CODE } from "../../calls/offer-errors.ts";
import { queryTimelock } from "../client/timelock.ts";
import { StoredRecord } from "../records/stored-record.ts";
import * as limits from "./offer-limits.ts";

/** Timeout for querying the client's time-lock, ms. */
const TIMELOCK_MS = 10_000;
/** Maximum time that a call to a stranger waits for the result of the query, ms. */
const TIMELOCK_WAIT_MS = 2_000;

/** Options of {@link Offers}. */
export interface OffersOptions {
  readonly system: System;
  readonly host: Pick<LineHost, "online" | "offline" | "condition">;
  /** The connected client; undefined while not connected. */
  readonly client: () => WhatsAppClient | undefined;
  /** The number's records; undefined if no client uses them. */
  readonly records: () => LineRecords | undefined;
  readonly log: (level: "info" | "warn" | "error", message: string, error?: unknown) => void;
}

/**
 * A number's offers: remembers the errors that apply to further offers, even across restarts, and reports them to the
 * core until they end.
 */
export class Offers {
  readonly #options: OffersOptions;
  readonly #timers = new Map<string, () => void>();
  readonly #record: StoredRecord;
  #limits: limits.OfferLimits = limits.NO_LIMITS;
  /** The pending or latest query for the time-lock. */
  #query: Promise<void> = Promise.resolve();
  /** Number of queries so far: only the result of the latest one counts, because results may arrive out of order. */
  #queryCount = 0;

  constructor(options: OffersOptions) {
    this.#options = options;
    this.#record = new StoredRecord({
      ...{ key: limits.OFFER_LIMITS_KEY, records: options.records },
      value: () => limits.storedLimits(this.#limits),
      onError: (error) => options.log("warn", "the limits of the number's calls could not be stored", error),
    });
  }

  /** Restores the limits that an earlier process has stored. @param value the content of their record */
  restore(value: unknown): void {
    this.#limits = limits.restoredLimits(value, this.#time);
    for (const { code, condition, reason } of this.#limits.values()) {
      this.#plan(code);
      if (condition !== undefined) this.#options.host.condition(condition, reason);
    }
  }

  /** The line's health, with the limits on its offers. */
  health(line: LineHealth): LineHealth {
    return limits.limitedHealth(line, this.#limits, this.#time);
  }

  /** The reason why an offer may not be sent now; undefined if it may be sent. */
  block(isStranger: boolean): DialError | undefined {
    return limits.offerBlock(this.#limits, isStranger, this.#time);
  }

  /** Handles an offer that WhatsApp has refused. */
  offerRefused(code: string): void {
    this.#limit(code);
    if (code === TIMELOCK_CODE) this.#queryTimelock(false);
  }

  /** Handles an offer that WhatsApp has accepted. */
  offerAccepted(): void {
    this.#change(limits.afterAcceptance(this.#limits, this.#time));
  }

  /** Checks the time-lock when the number is online, or WhatsApp has changed the lock. */
  check(): void {
    this.#queryTimelock(true);
  }

  /** Resolves once the query for the time-lock has a result, or has taken too long for a call. Never rejects. */
  async waitForQuery(): Promise<void> {
    const createTimeoutError = () => new NetworkSilent(`the client did not respond within ${TIMELOCK_WAIT_MS} ms`);
    await within(this.#latestQuery(), {
      system: this.#options.system,
      ms: TIMELOCK_WAIT_MS,
      timeoutError: createTimeoutError,
    }).catch(() => {});
  }

  /** Lifts the limits that a user's request for another attempt may lift. */
  retry(): void {
    for (const { code, callees } of this.#limits.values()) if (callees === "everyone") this.#lift(code);
  }

  /** Stops when the line is closed; the limits stay stored. */
  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  /** Resets everything when the number is unlinked and its records are being deleted. */
  reset(): void {
    this.stop();
    this.#limits = limits.NO_LIMITS;
    this.#record.discard();
  }

  get #time(): limits.Time {
    const { system } = this.#options;
    return { now: system.monotonic(), wallTime: system.now() };
  }

  #limit(code: string, remainingMs?: number): void {
    const { host, log } = this.#options;
    const before = this.#limits.get(code);
    this.#change(limits.withLimit(this.#limits, code, this.#time, remainingMs));
    const limit = this.#limits.get(code);
    if (limit === undefined) return;
    this.#plan(code);
    if (before === undefined) log("error", limit.reason);
    if (limit.condition !== undefined) host.condition(limit.condition, limit.reason);
    if (limit.condition !== undefined && limit.callees === "everyone") host.offline(limit.reason, true);
    else host.online();
  }

  #change(nextLimits: limits.OfferLimits): void {
    const isChanged = nextLimits.size > 0 || this.#limits.size > 0;
    this.#limits = nextLimits;
    if (isChanged) this.#record.store();
  }

  /** Sets the timer for the end of a limit. */
  #plan(code: string): void {
    const { system } = this.#options;
    const until = this.#limits.get(code)?.until ?? 0;
    const onEnd = (): void => (code === TIMELOCK_CODE ? this.#queryTimelock(true) : this.#lift(code));
    this.#timers.get(code)?.();
    this.#timers.set(code, system.after(Math.max(0, until - system.monotonic()), onEnd));
  }

  #lift(code: string): void {
    this.#timers.get(code)?.();
    this.#timers.delete(code);
    const limit = this.#limits.get(code);
    if (limit === undefined) return;
    // The limit after a 429 is kept until an offer is accepted, because a second 429 in a row extends it.
    if (limit.condition === undefined) return;
    this.#change(limits.withoutLimit(this.#limits, code));
    this.#options.log("info", `calls are possible again after error ${code}`);
    this.#options.host.online();
  }

  /**
   * Queries how long WhatsApp blocks calls to strangers.
   * @param liftsLock true to lift the lock if WhatsApp reports none
   */
  #queryTimelock(liftsLock: boolean): void {
    this.#query = this.#runQuery(liftsLock);
  }

  async #runQuery(liftsLock: boolean): Promise<void> {
    const { system, client, log } = this.#options;
    const queriedClient = client();
    const query = ++this.#queryCount;
    if (queriedClient === undefined) return;
    const isObsolete = (): boolean => query !== this.#queryCount || client() !== queriedClient;
    const createTimeoutError = () => new NetworkSilent(`the client did not respond within ${TIMELOCK_MS} ms`);
    try {
      const reply = Promise.resolve().then(() => queryTimelock(queriedClient, system.now()));
      const timelock = await within(reply, { system, ms: TIMELOCK_MS, timeoutError: createTimeoutError });
      if (isObsolete()) return;
      if (timelock?.active === true) this.#limit(TIMELOCK_CODE, timelock.remainingMs);
      else if (liftsLock && (timelock !== undefined || this.#isLockExpired)) this.#lift(TIMELOCK_CODE);
    } catch (error) {
      if (isObsolete()) return;
      log("info", "the time-lock of the number is unknown", error);
      if (liftsLock && this.#isLockExpired) this.#lift(TIMELOCK_CODE);
    }
  }

  async #latestQuery(): Promise<void> {
    let query: Promise<void> | undefined;
    while (query !== this.#query) {
      query = this.#query;
      await query;
    }
  }

  /** True if the lock has expired. */
  get #isLockExpired(): boolean {
    return (this.#limits.get(TIMELOCK_CODE)?.until ?? 0) <= this.#options.system.monotonic();
  }
}
