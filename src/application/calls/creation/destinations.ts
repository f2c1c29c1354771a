import type { Principal } from "../../../domain/access/principal.ts";
import type { Call } from "../../../domain/calls/call.ts";
import { CALL_WINDOW_MS, checkedCallLimits, isAllowed } from "../../../domain/calls/call-limits.ts";
import { Refusal } from "../../../domain/refusal.ts";
import type { CallQuota } from "../../../ports/storage.ts";
import { DEADLINE_PASSED, DialError, type Telephony } from "../../../ports/telephony.ts";
import type { Context } from "../../context.ts";
import type { PurgeClock } from "../deletion/purge-clock.ts";
import { type DialProtectionContext, doNotCallBlock } from "../dialling/dial-protection.ts";

/** Dependencies of the destination checks. */
export type DestinationsContext = Pick<
  Context,
  "access" | "callLimits" | "lease" | "purgeClock" | "storage" | "system"
> &
  DialProtectionContext;

/**
 * The principal with checked limits: a custom `authenticate` may return anything.
 * @throws {RangeError} naming the value and what to write instead
 */
export function withCheckedLimits(principal: Principal): Principal {
  if (principal.maxCallsPerDay !== undefined && principal.tokenId === undefined)
    throw new RangeError("a principal with maxCallsPerDay needs a tokenId: calls are counted by it");
  return { ...principal, ...checkedCallLimits(principal) };
}

/**
 * Checks that the token may call the number.
 * @throws {Refusal} `destination_not_allowed`
 */
export function assertTokenAllows({ allowedPrefixes }: Principal, phoneNumber: string): void {
  if (isAllowed(phoneNumber, allowedPrefixes)) return;
  throw destinationRefusal(
    `this token may not call ${phoneNumber}, only numbers that begin with ${allowedPrefixes?.join(", ")}`,
  );
}

/**
 * Checks that the server and the network call the number.
 * @throws {Refusal} `destination_not_allowed`
 */
export async function assertCallable(
  context: DestinationsContext,
  network: Telephony | undefined,
  phone: string,
): Promise<void> {
  const reason = await refusalOf(context, network, phone);
  if (reason !== undefined) throw destinationRefusal(reason);
}

/**
 * Repeats the destination check before dialling: the rules may have changed since the call was created.
 * @throws {DialError} `rejected_by_network`
 */
export async function assertDiallable(context: DestinationsContext, network: Telephony, phone: string): Promise<void> {
  const reason = await refusalOf(context, network, phone);
  if (reason !== undefined) throw new DialError("rejected_by_network", `not dialled: ${reason}`);
}

/**
 * True if the network may forward a call to another number: both the server and the creator of the call may call it.
 */
export function mayForwardTo(
  { callLimits }: Pick<Context, "callLimits">,
  { allowedPrefixes }: Call,
  phoneNumber: string,
): boolean {
  return isAllowed(phoneNumber, callLimits.allowedPrefixes) && isAllowed(phoneNumber, allowedPrefixes);
}

/**
 * Reason why a live call may not be transferred to a number; undefined if it may. A transfer costs as much as a call,
 * so the same rules apply.
 */
export async function transferRefusal(
  context: DestinationsContext,
  call: Call,
  network: Telephony,
  phoneNumber: string,
): Promise<string | undefined> {
  if (!context.lease.canDial) return DEADLINE_PASSED;
  if (!(await context.access.isOpenTo(call.userId, network)))
    return `user "${call.userId}" may not use "${network.name}"`;
  const refusal = await refusalOf(context, network, phoneNumber);
  if (refusal !== undefined) return refusal;
  if (!mayForwardTo(context, call, phoneNumber)) return `this call may not go to ${phoneNumber}`;
  return (await doNotCallBlock(context, call.userId, phoneNumber))?.detail;
}

/** Number of calls the principal may create; undefined for no limit. A token's limit overrides the server's. */
export function quotaOf(
  { callLimits, purgeClock }: Pick<Context, "callLimits" | "purgeClock">,
  principal: Principal,
): CallQuota | undefined {
  const maxCalls =
    principal.maxCallsPerDay ?? (principal.tokenId === undefined ? undefined : callLimits.maxCallsPerDay);
  return maxCalls === undefined ? undefined : quotaNow(purgeClock, maxCalls);
}

/** Uses the purge clock: a call counted by a fast wall clock would block its token until that time. */
function quotaNow(purgeClock: PurgeClock, maxCalls: number): CallQuota & { readonly now: number } {
  return { maxCalls, since: purgeClock.ago(CALL_WINDOW_MS), now: purgeClock.now() };
}

/**
 * Counts a transfer like a call that its token creates; returns the reason if that is impossible, undefined if it was
 * counted.
 */
export async function countTransfer(
  context: DestinationsContext,
  { tokenId, maxCallsPerDay: maxCalls }: Call,
): Promise<string | undefined> {
  const { storage, callLimits, purgeClock } = context;
  if (tokenId === null) return undefined;
  const quota = quotaNow(purgeClock, maxCalls ?? callLimits.maxCallsPerDay ?? Infinity);
  const oldestAt = await storage.calls.countTransfer(tokenId, quota.now, quota);
  return oldestAt === undefined ? undefined : dailyLimitReached(context, quota, oldestAt).message;
}

/** The refusal of a call beyond the limit. @param oldestAt time of the oldest counted call, ms since 1970-01-01 UTC */
export function dailyLimitReached(
  { system }: Pick<Context, "system">,
  { maxCalls, since }: CallQuota,
  oldestAt: number,
): Refusal {
  const retryAfterMs = Math.min(Math.max(0, oldestAt - since), CALL_WINDOW_MS);
  const next = new Date(system.now() + retryAfterMs).toISOString();
  return new Refusal(
    "daily_call_limit",
    `this token has created ${maxCalls} calls in the last 24 hours, transfers included, which is its limit; the next call is possible at ${next}`,
    { limit: maxCalls, retryAfterMs },
  );
}

async function refusalOf(
  { callLimits: { allowedPrefixes } }: Pick<Context, "callLimits">,
  network: Telephony | undefined,
  phone: string,
): Promise<string | undefined> {
  if (!isAllowed(phone, allowedPrefixes))
    return `this server does not call ${phone}, only numbers that begin with ${allowedPrefixes?.join(", ")}`;
  return network?.refuses?.(phone);
}

function destinationRefusal(reason: string): Refusal {
  return new Refusal("destination_not_allowed", reason);
}
