import { nextState } from "../../base/state-machine.ts";
import { within } from "../../base/timers.ts";
import { CALL_TRANSITIONS, type Call } from "../../domain/calls/call.ts";
import type { FailedReason } from "../../domain/calls/outcome.ts";
import type { Event } from "../../domain/events.ts";
import type { CallPatch } from "../../ports/storage.ts";
import type { Context } from "../context.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import { clampToCallTimes } from "./call-clock.ts";
import { failedOutcome, finalFact } from "./live/outcomes.ts";

/** Dependencies of {@link storeCall} and {@link failCall}. */
export type StoredCallsContext = Pick<
  Context,
  "counters" | "events" | "log" | "recordings" | "shutdownSignal" | "storage" | "system" | "timings"
>;

/**
 * Stores a change to a call that this process owns, however long the storage takes; returns undefined if another
 * process has changed the call.
 * @throws {StorageUnavailable} the process ends and can wait no longer
 */
export function storeCall(
  context: StoredCallsContext,
  call: Call,
  patch: CallPatch,
  events: readonly Event[],
): Promise<Call | undefined> {
  const { calls } = context.storage;
  return retryUntilStored(context, `the write of call ${call.id}`, async () => {
    const storedCall = await calls.update(call.id, call.version, patch, events);
    if (storedCall) return storedCall;
    // A write whose result was lost may still have succeeded.
    const current = await calls.get(call.id);
    return current && isWritten(current, call, patch) && (await areStored(context, call, events)) ? current : undefined;
  });
}

async function areStored(
  { storage }: Pick<Context, "storage">,
  call: Call,
  events: readonly Event[],
): Promise<boolean> {
  const lastEvent = events.at(-1);
  return !lastEvent || (await storage.events.ofCall(call.id, {})).some(({ id }) => id === lastEvent.id);
}

/** True if the stored call is this one with the patch applied. */
function isWritten(storedCall: Call, call: Call, patch: CallPatch): boolean {
  const patchedCall: Call = { ...call, ...patch };
  return (
    storedCall.version === call.version + 1 &&
    storedCall.status === patchedCall.status &&
    storedCall.owner === patchedCall.owner &&
    storedCall.dialingAt === patchedCall.dialingAt &&
    storedCall.line === patchedCall.line &&
    storedCall.notBefore === patchedCall.notBefore &&
    storedCall.startedAt === patchedCall.startedAt &&
    storedCall.endedAt === patchedCall.endedAt &&
    storedCall.outcome?.reason === patchedCall.outcome?.reason
  );
}

/**
 * Fails a call that has no live session, however long the storage takes; returns false if it was changed or had ended
 * in the meantime.
 * @throws {StorageUnavailable} the process ends and can wait no longer
 */
export async function failCall(
  context: StoredCallsContext,
  call: Call,
  reason: FailedReason,
  detail: string | null,
): Promise<boolean> {
  const { events, counters } = context;
  const status = nextState(CALL_TRANSITIONS, call.status, "fail");
  if (!status) return false;
  const endedAt = await endOf(context, call);
  const outcome = failedOutcome(call, reason, detail, endedAt);
  const subject = { callId: call.id, instanceId: call.instanceId, userId: call.userId };
  const event = events.event(finalFact(call, status, outcome), subject, endedAt);
  const recordedMs = await recordedSoFar(context, call);
  const patch: CallPatch = { status, outcome, endedAt, recordedMs };
  if (!(await storeCall(context, call, patch, [event]))) return false;
  counters.callEnded(status, reason);
  events.publish([event]);
  return true;
}

/**
 * Duration of a recording that exists but cannot be read now: it is kept, found by retention and deleted on request.
 */
const UNKNOWN_LENGTH_MS = 1;

/**
 * The current time, or that of the call's latest event if it is later: the clock may have been set back in the
 * meantime.
 */
async function endOf(context: StoredCallsContext, call: Call): Promise<number> {
  const now = clampToCallTimes(call, context.system.now());
  if (call.dialingAt === null) return now;
  const { events } = context.storage;
  const timeline = await retryUntilStored(context, `the timeline of call ${call.id}`, () => events.ofCall(call.id, {}));
  return timeline.reduce((latest, { timestamp }) => Math.max(latest, timestamp), now);
}

/** Length of a call's recording, ms, from the recording itself: the process that made it may have died. */
async function recordedSoFar(
  { recordings, system, timings, log }: Pick<Context, "log" | "recordings" | "system" | "timings">,
  call: Call,
): Promise<number | null> {
  if (call.recordedMs === null || call.startedAt === null) return call.recordedMs;
  try {
    const timeoutError = () => new Error(`the recording was not read within ${timings.closeMs} ms`);
    const recording = await within(recordings.read(call.id), { system, ms: timings.closeMs, timeoutError });
    return Math.round(recording?.durationMs ?? 0);
  } catch (error) {
    log.warn({ call_id: call.id, err: error }, "the recording of a call cannot be read");
    return UNKNOWN_LENGTH_MS;
  }
}
