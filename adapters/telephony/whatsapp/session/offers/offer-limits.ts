import { DialError, type LineCondition, type LineHealth } from "../../../../../src/ports/telephony.ts";
import { MAX_HOLD_MS, type OfferHold, offerError, TIMELOCK_CODE } from "../../calls/offer-errors.ts";
import { MAX_TIMELOCK_MS } from "../client/timelock.ts";
import { utc } from "../utc.ts";

/** Key of the record that holds a number's limits. */
export const OFFER_LIMITS_KEY = "ringport/offer-limits";
const MAX_TIMES = 10;

/** A limit on further offers, from an error in response to an offer. */
export interface OfferLimit {
  readonly code: string;
  readonly callees: OfferHold["callees"];
  readonly condition: LineCondition | undefined;
  /** A sentence for the owner of the number, with the code and the end. */
  readonly reason: string;
  /** End of the limit: monotonic, ms, and ms since 1970-01-01 UTC. */
  readonly until: number;
  readonly endsAt: number;
  /** Number of consecutive errors with this code. */
  readonly times: number;
}

/** The limits in force, by the code of their error. */
export type OfferLimits = ReadonlyMap<string, OfferLimit>;

export const NO_LIMITS: OfferLimits = new Map();

/** A time for decisions. `now`: monotonic, ms; `wallTime`: ms since 1970-01-01 UTC. */
export interface Time {
  readonly now: number;
  readonly wallTime: number;
}

/** The limits after WhatsApp has refused an offer; unchanged if the error concerns only that callee. */
export function withLimit(limits: OfferLimits, code: string, time: Time, remainingMs?: number): OfferLimits {
  const error = offerError(code);
  if (error.scope === "callee") return limits;
  const times = Math.min(MAX_TIMES, (limits.get(code)?.times ?? 0) + 1);
  const ms = remainingMs ?? Math.min(MAX_HOLD_MS, error.holdMs * 2 ** (times - 1));
  return new Map(limits).set(code, limitOf(code, error, times, ms, time));
}

function limitOf(code: string, hold: OfferHold, times: number, ms: number, { now, wallTime }: Time): OfferLimit {
  const endsAt = wallTime + ms;
  const { callees, condition, text } = hold;
  const reason = `${text}, until ${utc(endsAt)} (${code})`;
  return { code, callees, times, endsAt, condition, until: now + ms, reason };
}

/**
 * The number's limits, to be stored for a later process; undefined if there are none. Limits on the client's version
 * are not stored: an update may end them.
 */
export function storedLimits(limits: OfferLimits): unknown {
  const numberLimits = [...limits.values()].filter(({ code }) => offerError(code).scope === "number");
  return numberLimits.length === 0
    ? undefined
    : numberLimits.map(({ code, endsAt, times }) => ({ code, endsAt, times }));
}

/** The limits that an earlier process has stored; other content of the record is ignored. */
export function restoredLimits(value: unknown, time: Time): OfferLimits {
  const entries = Array.isArray(value) ? value : [];
  return new Map(entries.flatMap((entry) => restoredLimit(entry, time) ?? []).map((limit) => [limit.code, limit]));
}

function restoredLimit(entry: unknown, time: Time): OfferLimit | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { code, endsAt, times } = entry as Readonly<Record<string, unknown>>;
  if (typeof code !== "string" || !Number.isFinite(endsAt) || !Number.isInteger(times)) return undefined;
  const error = offerError(code);
  if (error.scope !== "number") return undefined;
  const maxMs = code === TIMELOCK_CODE ? MAX_TIMELOCK_MS : MAX_HOLD_MS; // the clock may have been set back
  const ms = Math.min(maxMs, (endsAt as number) - time.wallTime);
  const hasEnded = ms <= 0 && error.condition !== undefined;
  return hasEnded ? undefined : limitOf(code, error, Math.min(MAX_TIMES, times as number), ms, time);
}

/** The limits without the limit for an error code. */
export function withoutLimit(limits: OfferLimits, code: string): OfferLimits {
  return new Map([...limits].filter(([other]) => other !== code));
}

/** The limits after WhatsApp has accepted an offer: limits that have ended are removed. */
export function afterAcceptance(limits: OfferLimits, { now }: Time): OfferLimits {
  return new Map([...limits].filter(([, { until }]) => until > now));
}

/** The line's health with its limits: an online line becomes offline if its client may not call anyone. */
export function limitedHealth(health: LineHealth, limits: OfferLimits, { now }: Time): LineHealth {
  if (health.state !== "online") return health;
  const conditions = activeLimits(limits, now).filter(({ condition }) => condition !== undefined);
  const totalBlock = conditions.find(({ callees }) => callees === "everyone");
  if (totalBlock !== undefined) return { state: "offline", reason: totalBlock.reason, lasting: true };
  const [first] = conditions;
  if (first?.condition === undefined) return health;
  return { state: "online", notice: { condition: first.condition, reason: first.reason, until: first.endsAt } };
}

/** The reason to send no offer now, to anyone or to this callee; undefined if offers are allowed. */
export function offerBlock(limits: OfferLimits, isStranger: boolean, { now }: Time): DialError | undefined {
  const limitsInForce = activeLimits(limits, now);
  const totalLimit = limitsInForce.find(({ callees }) => callees === "everyone");
  if (totalLimit !== undefined)
    return new DialError("line_lost", totalLimit.reason, { retryAfterMs: totalLimit.until - now });
  const strangerLimit = isStranger ? limitsInForce[0] : undefined;
  return strangerLimit && new DialError("paused", `not dialled: ${strangerLimit.reason}; contacts can be called`);
}

function activeLimits(limits: OfferLimits, now: number): readonly OfferLimit[] {
  return [...limits.values()].filter(({ until }) => until > now);
}
