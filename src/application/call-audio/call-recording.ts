import { within } from "../../base/timers.ts";
import { type Call, isActive } from "../../domain/calls/call.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { StoredRecording } from "../../ports/recordings.ts";
import type { Dispatcher } from "../calls/dialling/dispatcher.ts";
import type { Context } from "../context.ts";

type RecordingContext = Pick<Context, "storage" | "recordings" | "events" | "system" | "timings">;

/**
 * Reads the recording of a call, even while it grows.
 * @throws {Refusal} `recording_not_found`
 */
export async function readRecording({ recordings }: RecordingContext, call: Call): Promise<StoredRecording> {
  checkRecorded(call);
  const recording = await recordings.read(call.id);
  if (recording === undefined) throw noRecording(call);
  return recording;
}

/**
 * Deletes the recording of a call permanently. Stops the recording of an active call.
 * @throws {Refusal} `recording_not_found`
 */
export async function eraseRecording(context: RecordingContext, dispatcher: Dispatcher, call: Call): Promise<void> {
  checkRecorded(call);
  for (let current: Call | undefined = call; current; current = await context.storage.calls.get(call.id)) {
    await dispatcher.whenIdle(current.instanceId);
    const session = isActive(current.status) ? dispatcher.session(current.id) : undefined;
    if (session && !isActive(session.call.status)) {
      await session.whenStored; // the stored end includes the length of the recording
      await dispatcher.whenReleased(current.id);
      continue;
    }
    if (session) {
      await session.eraseRecording();
      // The session still writes the call, so only the event is stored here, unless the call has ended in the meantime.
      const event = deletionEvent(context, current, "requested");
      await context.storage.events.append([event]);
      context.events.publish([event]);
    }
    const storedCall: Call | undefined = session ? await context.storage.calls.get(call.id) : current;
    if (!storedCall || (session && !storedCall.recordedMs)) return;
    if (await forgetRecording(context, storedCall, "requested")) return;
  }
}

/** Deletes the recording of a call without a session; returns false if the call was changed in the meantime. */
export async function forgetRecording(
  context: RecordingContext,
  call: Call,
  reason: "requested" | "retention",
): Promise<boolean> {
  const { system, timings } = context;
  const timeoutError = () => new Error(`the recording was not deleted within ${timings.closeMs} ms`);
  await within(context.recordings.forget([call.id]), { system, ms: timings.closeMs, timeoutError });
  const event = deletionEvent(context, call, reason);
  const recordedMs = isActive(call.status) ? null : 0;
  const updatedCall = await context.storage.calls.update(call.id, call.version, { recordedMs }, [event]);
  if (updatedCall) context.events.publish([event]);
  return updatedCall !== undefined;
}

function deletionEvent({ events }: RecordingContext, call: Call, reason: "requested" | "retention") {
  const subject = { callId: call.id, instanceId: call.instanceId, userId: call.userId };
  return events.event({ event: "recording_deleted", data: { reason } }, subject);
}

function checkRecorded(call: Call): void {
  if (call.recordedMs === null)
    throw new Refusal("recording_not_found", `call "${call.id}" is not recorded: create it with "recording": true`);
  if (!isActive(call.status) && call.recordedMs === 0) throw noRecording(call);
}

function noRecording(call: Call): Refusal {
  const reason = call.startedAt === null ? "it was not answered" : "it was deleted, or could not be stored";
  return new Refusal("recording_not_found", `there is no recording of call "${call.id}": ${reason}`);
}
