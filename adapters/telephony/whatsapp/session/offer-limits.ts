import { DialError, type LineCondition, type LineHealth } from "../../../../src/ports/telephony.ts";
import { MAX_HOLD_MS, type OfferHold, offerError } from "../calls/offer-errors.ts";
import { utc } from "./utc.ts";

/** An error in reply to an offer, for as long as it applies to further offers. */
export interface OfferLimit {
  readonly code: string;
  readonly callees: OfferHold["callees"];
  readonly condition: LineCondition | undefined;
  /** A sentence for the owner of the number, with the code and the end. */
  readonly reason: string;
  /** Its end: monotonic, ms, and ms since 1970-01-01 UTC. */
  readonly until: number;
  readonly endsAt: number;
  /** Number of times that it came in a row. */
  readonly times: number;
}

/** The limits in force, by the code of their error. */
export type OfferLimits = ReadonlyMap<string, OfferLimit>;

export const NO_LIMITS: OfferLimits = new Map();

/** A time for decisions. `now`: monotonic, ms; `wall`: ms since 1970-01-01 UTC. */
export interface Time {
  readonly now: number;
  readonly wall: number;
}

/** The limits after WhatsApp has refused an offer; the same if the error applies to its call alone. */
export function limited(limits: OfferLimits, code: string, { now, wall }: Time, leftMs?: number): OfferLimits {
  const error = offerError(code);
  if (error.scope === "callee") return limits;
  const { callees, condition, holdMs, text } = error;
  const times = (limits.get(code)?.times ?? 0) + 1;
  const ms = leftMs ?? Math.min(MAX_HOLD_MS, holdMs * 2 ** (times - 1));
  const endsAt = wall + ms;
  const limit: OfferLimit = {
    ...{ code, callees, times, endsAt, condition, until: now + ms },
    reason: `${text}, until ${utc(endsAt)} (${code})`,
  };
  return new Map(limits).set(code, limit);
}

/** The limits without one of them. */
export function lifted(limits: OfferLimits, code: string): OfferLimits {
  return new Map([...limits].filter(([other]) => other !== code));
}

/** The limits after WhatsApp has accepted an offer: it lets the number call again. */
export function afterAcceptance(limits: OfferLimits, { now }: Time): OfferLimits {
  return new Map([...limits].filter(([, { until }]) => until > now));
}

/** The health of the line with its limits: an online one is offline if its client may not call anybody. */
export function limitedHealth(health: LineHealth, limits: OfferLimits, { now }: Time): LineHealth {
  if (health.state !== "online") return health;
  const noted = inForce(limits, now).filter(({ condition }) => condition !== undefined);
  const outdated = noted.find(({ callees }) => callees === "everyone");
  if (outdated !== undefined) return { state: "offline", reason: outdated.reason, lasting: true };
  const [first] = noted;
  if (first?.condition === undefined) return health;
  return { state: "online", notice: { condition: first.condition, reason: first.reason, until: first.endsAt } };
}

/** The reason for which no offer is sent now, to anybody or to this callee; undefined if it may be sent. */
export function offerBlock(limits: OfferLimits, isStranger: boolean, { now }: Time): DialError | undefined {
  const current = inForce(limits, now);
  const all = current.find(({ callees }) => callees === "everyone");
  if (all !== undefined) return new DialError("line_lost", all.reason, { retryAfterMs: all.until - now });
  const strangers = isStranger ? current[0] : undefined;
  return strangers && new DialError("paused", `not dialled: ${strangers.reason}; contacts can be called`);
}

function inForce(limits: OfferLimits, now: number): readonly OfferLimit[] {
  return [...limits.values()].filter(({ until }) => until > now);
}
