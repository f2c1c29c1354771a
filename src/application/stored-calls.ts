import { CALL_TRANSITIONS, type Call } from "../domain/call.ts";
import { nextState } from "../domain/machine.ts";
import type { FailedReason } from "../domain/outcome.ts";
import type { Context } from "./context.ts";
import { failedOutcome, finalEvent, outcomeView } from "./outcomes.ts";

/** Fails a call that has no live session; false where it was changed or had ended meanwhile. */
export async function failCall(
  { storage, system, events, figures }: Context,
  call: Call,
  reason: FailedReason,
  detail: string | null,
): Promise<boolean> {
  const status = nextState(CALL_TRANSITIONS, call.status, "fail");
  if (!status) return false;
  const endedAt = system.now();
  const outcome = failedOutcome(call, reason, detail, endedAt);
  const subject = { callId: call.id, instanceId: call.instanceId, userId: call.userId };
  const event = events.event(finalEvent(status), subject, outcomeView(outcome));
  const written = await storage.calls.update(call.id, call.version, { status, outcome, endedAt }, [event]);
  if (!written) return false;
  figures.callEnded(status, reason);
  events.publish([event]);
  return true;
}
