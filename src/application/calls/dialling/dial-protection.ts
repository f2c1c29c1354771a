import type { Call } from "../../../domain/calls/call.ts";
import {
  applicableConsent,
  calleeBlock,
  type DialDecision,
  type DialledCallee,
  decideDial,
  instancePause,
  mayBegin,
} from "../../../domain/dialling-rules/all-dialling-rules.ts";
import type { ConsentStatus } from "../../../domain/dialling-rules/consent.ts";
import type { DialHistory, DialRecord } from "../../../domain/dialling-rules/dial-history.ts";
import {
  type Block,
  type NumberProtection,
  protectionInForce,
} from "../../../domain/dialling-rules/number-protection.ts";
import { assertUsable } from "../../../domain/dialling-rules/number-protection-input.ts";
import { DAY_MS, warmUpDay, warmUpLimit } from "../../../domain/dialling-rules/warm-up.ts";
import { assertLines, assertNetworkLines } from "../../../domain/instances/queue-capacity.ts";
import { numberForms } from "../../../domain/numbers/number-forms.ts";
import { zonesOfNumber } from "../../../domain/numbers/number-zones.ts";
import type { System } from "../../../ports/system.ts";
import { DialError, type Telephony } from "../../../ports/telephony.ts";
import { ProgramFailed } from "../../call-audio/call-types/call-type-program.ts";
import type { Context } from "../../context.ts";
import type { LineMonitor, NumberState } from "../../instances/line-monitor.ts";
import { storedTime } from "../../stored-times.ts";
import { queueEndOf } from "../call-clock.ts";

/** Dependencies of the functions for number protection. */
export type DialProtectionContext = Pick<Context, "policy" | "storage" | "system" | "timings">;

/** Decision about the next call. `ms`: time until the next check. */
type NextDial = Exclude<DialDecision, { readonly do: "wait" }> | { readonly do: "wait"; readonly ms: number };

/** Checks the protections and the lines of this server. @throws {RangeError} one of them has an invalid value */
export function checkProtection({ policy, telephony }: Pick<Context, "policy" | "telephony">): void {
  assertUsable(policy, "queue");
  assertLines(policy);
  for (const { name, capabilities } of telephony.values()) {
    const { protection, lines } = capabilities;
    assertNetworkLines(name, lines);
    if (protection) assertUsable(protection, `protection of ${name}`);
  }
}

/**
 * Applies number protection to an instance's next call, and announces the number's pause if one has begun.
 * @param next undefined if no call waits
 * @param liveDials times at which the live calls of the instance were dialled
 */
export async function decideNext(
  context: DialProtectionContext,
  monitor: LineMonitor,
  next: Call | undefined,
  liveDials: readonly number[] = [],
): Promise<NextDial> {
  const { system, timings } = context;
  const protection = protectionInForce(context.policy, monitor.telephony.capabilities.protection);
  const dialHistory = await dialHistoryOf(context, protection, monitor);
  const now = system.now();
  monitor.pause(instancePause(protection, dialHistory, now));
  if (!next) return { do: "dial" };
  if (protection.paceMs && monitor.number.dialling > 0) return { do: "wait", ms: protection.paceMs };
  const callee = await calleeOf(context, protection, next);
  const times = { now, waitsUntil: queueEndOf(next, timings, now) };
  const decision: DialDecision = decideDial(protection, callee, { ...dialHistory, liveDials }, times);
  if (decision.do !== "wait") return decision;
  const { until: waitEnd } = decision;
  // The clock may be changed in the meantime, so a long wait is checked again.
  return { do: "wait", ms: Math.min(waitEnd - now, DAY_MS) };
}

/**
 * Reason why the callee must no longer be called: a consent may have been withdrawn since the call was prepared. A call
 * whose hours have ended in the meantime returns to its queue.
 */
export async function calleeRefusalNow(
  context: DialProtectionContext,
  call: Call,
  telephony: Telephony,
): Promise<DialError | ProgramFailed | undefined> {
  const protection = protectionInForce(context.policy, telephony.capabilities.protection);
  const block = calleeBlock(protection, await calleeOf(context, protection, call), context.system.now());
  if (block && mayBegin(protection, block)) return new DialError("line_lost", block.detail);
  return block && new ProgramFailed(block.reason, block.detail);
}

/** True if calls of this network may wait for their calling hours. */
export function mayPostpone({ policy }: Pick<Context, "policy">, telephony: Telephony): boolean {
  const { callingHours, outsideHours } = protectionInForce(policy, telephony.capabilities.protection);
  return Boolean(callingHours) && outsideHours !== "fail";
}

/**
 * Reason why a call of this user must not be forwarded to a number. Consents and calling hours are rules for callees: a
 * call is transferred to a person who expects it.
 */
export async function doNotCallBlock(
  context: DialProtectionContext,
  userId: string,
  phone: string,
): Promise<Block | undefined> {
  const consent = await consentOf(context, userId, phone);
  return calleeBlock({}, { phone, consent, zones: [] }, context.system.now());
}

async function consentOf(
  { storage }: Pick<Context, "storage">,
  userId: string,
  phone: string,
): Promise<ConsentStatus | undefined> {
  const consents = await storage.consents.ofNumbers(userId, numberForms(phone));
  return applicableConsent(consents.map(({ status }) => status));
}

async function calleeOf(
  context: DialProtectionContext,
  { callingHours }: NumberProtection,
  call: Call,
): Promise<DialledCallee> {
  const phone = call.targetPhone;
  const consent = await consentOf(context, call.userId, phone);
  const zones = callingHours ? zonesOfNumber(phone) : [];
  return { phone, consent, zones };
}

async function dialHistoryOf(
  context: DialProtectionContext,
  protection: NumberProtection,
  monitor: LineMonitor,
): Promise<DialHistory> {
  const { system } = context;
  const { number } = monitor;
  const { id, dialledNumber } = monitor.instance;
  const { since = 0, after = "" } = dialledNumber ?? {};
  const isAhead = since > system.now();
  const linkedAt = monitor.linkedAt;
  const { history, reachedDials } = await dialsOf(context, protection, id, linkedAt, {
    since: isAhead ? 0 : since,
    after: isAhead ? after : "",
    includesLast: number.lastDial === undefined,
  });
  if (protection.paceMs && !number.lastDial) restoreLastDial(context, number, history);
  const { lastDial } = number;
  if (lastDial && protection.paceJitter) lastDial.chance ??= randomShare(system);
  return {
    linkedAt,
    history,
    reachedDials,
    sinceLastDialMs: lastDial && system.monotonic() - lastDial.at,
    chance: lastDial?.chance ?? 0,
  };
}

/**
 * The dials that number protection considers.
 * @param range `since`: time from which they belong to the number; `after`: calls of the number have greater ids;
 *   `includesLast`: true to include the last dial, which sets the pace, because an earlier process placed it
 */
async function dialsOf(
  { storage, system }: Pick<Context, "storage" | "system">,
  { warmUp, answerRate, refusals, paceMs }: NumberProtection,
  instanceId: string,
  linkedAt: number,
  { since, after, includesLast }: { readonly since: number; readonly after: string; readonly includesLast: boolean },
): Promise<Pick<DialHistory, "history" | "reachedDials">> {
  const now = system.now();
  const day = warmUpDay(linkedAt, now);
  const dayLimit = warmUp && day < warmUp.days ? warmUpLimit(warmUp, Math.min(day + 1, warmUp.days - 1)) : 0;
  const { calls } = storage;
  const [newestDials, warmUpDials, recentDials, reachedDials] = await Promise.all([
    paceMs && includesLast ? calls.dialHistory(instanceId, since, 1) : [],
    dayLimit > 0 ? calls.dialHistory(instanceId, Math.max(since, now - DAY_MS), dayLimit, now + DAY_MS) : [],
    refusals ? calls.dialHistory(instanceId, since, refusals.calls, now) : [],
    answerRate ? calls.dialHistory(instanceId, since, answerRate.calls, now, "reached") : [],
  ]);
  const isOfNumber = ({ callId }: DialRecord): boolean => callId > after;
  const allDials = [...newestDials, ...warmUpDials, ...recentDials];
  const dials = new Map(allDials.filter(isOfNumber).map((dial) => [dial.callId, dial]));
  return { history: [...dials.values()].sort((a, b) => b.at - a.at), reachedDials: reachedDials.filter(isOfNumber) };
}

/** Restores the last dial of an earlier process, dated by the wall clock. */
function restoreLastDial(
  { system }: Pick<Context, "system">,
  number: NumberState,
  [last]: readonly DialRecord[],
): void {
  const now = system.now();
  const agoMs = last ? now - storedTime("calls.dialing_at", last.at, now) : Infinity;
  number.lastDial = { at: system.monotonic() - agoMs };
}

/** A random number from 0 to 1. */
function randomShare(system: System): number {
  const bytes = new Uint8Array(2);
  system.random(bytes);
  return new DataView(bytes.buffer).getUint16(0) / 0xffff;
}
