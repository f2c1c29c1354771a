import * as v from "valibot";
import { ANSWERERS } from "../../domain/answering/answering-machine.ts";
import { BATCH_CALL_TYPES, BATCH_STATUSES, TARGET_STATUSES } from "../../domain/batches/batch.ts";
import { RETRY_REASONS } from "../../domain/batches/retry.ts";
import { WAIT_REASONS } from "../../domain/batches/target-wait.ts";
import { HEARD_EVIDENCE } from "../../domain/calls/outcome.ts";
import { callId, count, instanceId, isoTime, milliseconds, shape, share } from "./shape.ts";

const position = v.pipe(count, v.description("Place in the batch, from 1."));
const number = v.pipe(v.string(), v.description("E.164; as it was given if the target is invalid."));
const row = v.pipe(v.number(), v.integer(), v.description("Line of the file, or place in the list, from 1."));
const statusCounts = v.pipe(v.record(v.string(), count), v.description("Number of targets by status."));
const anyObject = v.record(v.string(), v.unknown());

export const batchScheduleShape = shape("The times at which the calls of a batch may be dialled.", {
  start_at: v.pipe(v.nullable(isoTime), v.description("No call is placed before this time.")),
  end_at: v.pipe(v.nullable(isoTime), v.description("No call is placed from this time on.")),
  hours: v.pipe(
    v.nullable(v.strictObject({ from: v.string(), to: v.string(), days: v.nullable(v.array(v.number())) })),
    v.description("Local hours, and days from 1 Monday to 7 Sunday; null: at any hour, every day."),
  ),
  zone: v.pipe(v.string(), v.description("Zone of the hours: callee, or an IANA name.")),
});

export const batchRetryShape = shape("Conditions on which a target is called again.", {
  on: v.array(v.picklist(RETRY_REASONS)),
  times: v.pipe(count, v.description("Maximum number of calls after the first one.")),
  backoff: v.strictObject({ first_ms: milliseconds, factor: v.number(), max_ms: milliseconds }),
});

export const batchCountsShape = shape("Number of targets of a batch, in total and by status.", {
  targets: v.pipe(count, v.description("All targets.")),
  by_status: statusCounts,
  by_reason: v.pipe(
    v.array(v.strictObject({ status: v.picklist(TARGET_STATUSES), reason: v.string(), targets: count })),
    v.description("Targets that have ended, the most frequent reason first."),
  ),
  waiting_after: v.pipe(
    v.array(v.strictObject({ reason: v.string(), targets: count })),
    v.description("Targets that wait for another call, by the reason of the last one; `machine` after a machine."),
  ),
});

export const plannedInstanceShape = shape("An instance's part in a plan.", {
  instance_id: instanceId,
  name: v.string(),
  phone: v.pipe(v.nullable(v.string()), v.description("E.164; null if it is unknown.")),
  calls: v.pipe(count, v.description("Number of calls that it would place.")),
  lines: v.pipe(count, v.description("Number of calls that it carries at once.")),
  pace_ms: v.pipe(v.number(), v.description("Time between two dials, ms.")),
  blocked: v.pipe(v.nullable(v.string()), v.description("Reason why it cannot call now; null if it can.")),
});

const batch = {
  id: v.pipe(v.string(), v.startsWith("batch_")),
  name: v.string(),
  status: v.pipe(v.picklist(BATCH_STATUSES), v.description("COMPLETED and CANCELLED are final.")),
  reason: v.pipe(v.nullable(v.string()), v.description("Reason for the pause or the cancellation; null without one.")),
  instance_ids: v.pipe(v.array(instanceId), v.description("The instances that place the calls.")),
  type: v.picklist(BATCH_CALL_TYPES),
  schedule: batchScheduleShape,
  retry: v.pipe(
    v.nullable(batchRetryShape),
    v.description("Conditions on which a target is called again; null: never."),
  ),
  max_concurrent: v.pipe(
    v.nullable(count),
    v.description("Maximum number of concurrent calls; null: as many as the instances carry."),
  ),
  gap_ms: v.pipe(
    milliseconds,
    v.description("Minimum time between a call to a callee outside of the batch and one in it, ms."),
  ),
  breaker: v.pipe(
    v.nullable(v.strictObject({ share, calls: count })),
    v.description("Pauses the batch if this share of its last calls failed for the same reason; null: it never does."),
  ),
  created_at: isoTime,
  updated_at: isoTime,
  started_at: v.nullable(isoTime),
  ended_at: v.nullable(isoTime),
};

export const batchShape = shape("A batch: one message for many callees.", batch);

const details = {
  ...batch,
  message: v.pipe(anyObject, v.description("The message as it was given, without the bytes of an audio file.")),
  counts: batchCountsShape,
  estimated_end_at: v.pipe(
    v.nullable(isoTime),
    v.description("Estimated end at the speed so far; null if it is unknown, or if the batch is not RUNNING."),
  ),
};

export const batchDetailsShape = shape("A batch with its progress.", details);

export const targetFaultShape = shape("A fault of a target.", {
  column: v.pipe(v.string(), v.description("The variable or field that is wrong; empty for the whole row.")),
  file_column: v.pipe(
    v.optional(v.string()),
    v.description("The column of the file, if its name differs from `column`."),
  ),
  code: v.string(),
  detail: v.pipe(
    v.string(),
    v.description("The fault and its fix; it begins with the column of the file, if there is one."),
  ),
});

export const rowFaultsShape = shape("The faults of one row of an import.", {
  row,
  position,
  phone_number: number,
  faults: v.array(targetFaultShape),
});

export const importReportShape = shape("The result of an import of targets.", {
  rows: v.pipe(count, v.description("Rows read.")),
  stored: statusCounts,
  faults: v.pipe(
    v.array(rowFaultsShape),
    v.description("The first 1,000 rows with faults; the list of targets has all of them."),
  ),
});

export const createdBatchShape = shape("The response to the creation of a batch.", {
  ...details,
  report: importReportShape,
});

export const batchPlanShape = shape("The numbers to call, when and from which number, and what prevents calls.", {
  targets: statusCounts,
  faults: v.array(rowFaultsShape),
  problems: v.pipe(
    v.array(v.strictObject({ pointer: v.string(), code: v.string(), detail: v.string() })),
    v.description("Faults of the batch itself; each with a JSON Pointer into it."),
  ),
  instances: v.array(plannedInstanceShape),
  starts_at: v.pipe(v.nullable(isoTime), v.description("The first dial; null if the plan has no calls.")),
  ends_at: v.pipe(v.nullable(isoTime), v.description("The end of the last call; null if the plan has no calls.")),
  call_ms: v.pipe(v.number(), v.description("Length of a call that the plan assumes, ms.")),
  call_ms_source: v.picklist(["message", "history", "assumed"]),
  calls: v.pipe(
    v.array(v.strictObject({ position, phone_number: number, instance_id: instanceId, at: isoTime })),
    v.description("The first 1,000 calls."),
  ),
});

export const targetResultShape = shape("The result of a target's last call.", {
  reason: v.string(),
  detail: v.nullable(v.string()),
  answered_by: v.nullable(v.picklist(ANSWERERS)),
  heard_ms: v.nullable(v.number()),
  heard_ratio: v.nullable(v.number()),
  heard_evidence: v.nullable(v.picklist(HEARD_EVIDENCE)),
  duration_ms: v.number(),
  started_at: v.pipe(v.nullable(isoTime), v.description("Time of the answer; null without one.")),
  ended_at: isoTime,
  result: v.pipe(v.nullable(anyObject), v.description("The result that an agent reported; null without one.")),
});

export const targetWaitShape = shape("The cause and the end of a target's wait.", {
  reason: v.pipe(
    v.picklist(WAIT_REASONS),
    v.description(
      "The start or the pause of the batch, hours, the gap after a call outside of the batch, a retry, a free line, or a limit.",
    ),
  ),
  after: v.pipe(
    v.nullable(v.string()),
    v.description("Reason of its last call, if it is called again; `machine` after a machine."),
  ),
  until: v.pipe(v.nullable(isoTime), v.description("End of this wait; null if it is unknown.")),
});

export const batchTargetShape = shape("One callee of a batch.", {
  position,
  row,
  phone_number: number,
  extension: v.optional(v.string()),
  variables: v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])),
  reference: v.nullable(v.string()),
  metadata: anyObject,
  status: v.picklist(TARGET_STATUSES),
  faults: v.pipe(v.array(targetFaultShape), v.description("Set only for an invalid or duplicate target.")),
  attempts: v.pipe(count, v.description("Number of calls so far.")),
  next_attempt_at: v.pipe(
    v.nullable(isoTime),
    v.description("Earliest time of the next call; null if it does not wait."),
  ),
  waiting: v.pipe(
    v.nullable(targetWaitShape),
    v.description("What it waits for; null if it does not wait, or if the cause is unknown."),
  ),
  call_id: v.pipe(v.nullable(callId), v.description("Its active or last call.")),
  reason: v.pipe(v.nullable(v.string()), v.description("Reason why it, or its last call, has ended.")),
  result: v.pipe(v.nullable(targetResultShape), v.description("The result of its last call; null before its end.")),
  updated_at: isoTime,
});
