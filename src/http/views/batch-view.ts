import type {
  BatchDetails as DetailedBatch,
  ImportReport as ImportResult,
  RowFaults as RowWithFaults,
  BatchPlan as StoredPlan,
  TargetDetails,
} from "../../application/batches/batch-use-cases.ts";
import type {
  Batch as StoredBatch,
  TargetFault as StoredFault,
  TargetResult as StoredResult,
  TargetStatus,
} from "../../domain/batches/batch.ts";
import { detailInFile } from "../../domain/batches/fault-column.ts";
import { storedAudioId } from "../../domain/calls/stored-audio.ts";
import type { View } from "../response-types.ts";
import { maybeTimestamp, timestamp } from "../timestamp.ts";

/** A batch in a list. */
export function batchView(batch: StoredBatch): View<"Batch"> {
  const { schedule, retry, breaker } = batch;
  return {
    id: batch.id,
    name: batch.name,
    status: batch.status,
    reason: batch.reason,
    instance_ids: [...batch.instanceIds],
    type: batch.message.type,
    schedule: {
      start_at: maybeTimestamp(schedule.startAt ?? null),
      end_at: maybeTimestamp(schedule.endAt ?? null),
      hours: schedule.hours
        ? {
            from: schedule.hours.from,
            to: schedule.hours.until,
            days: schedule.hours.days ? [...schedule.hours.days] : null,
          }
        : null,
      zone: schedule.zone ?? "callee",
    },
    retry: retry
      ? {
          on: [...retry.on],
          times: retry.times,
          backoff: { first_ms: retry.backoff.firstMs, factor: retry.backoff.factor, max_ms: retry.backoff.maxMs },
        }
      : null,
    max_concurrent: batch.maxConcurrent ?? null,
    gap_ms: batch.gapMs,
    breaker: breaker ? { share: breaker.share, calls: breaker.calls } : null,
    created_at: timestamp(batch.createdAt),
    updated_at: timestamp(batch.updatedAt),
    started_at: maybeTimestamp(batch.startedAt),
    ended_at: maybeTimestamp(batch.endedAt),
  };
}

/** A batch with its progress. */
export function batchDetailsView(batch: DetailedBatch): View<"BatchDetails"> {
  const { audio: _, ...otherFields } = batch.message;
  const audioId = storedAudioId(batch.message);
  const message = audioId === undefined ? otherFields : { ...otherFields, audio: { audioId } };
  const { byStatus, byReason, waitingAfter } = batch.counts;
  return {
    ...batchView(batch),
    message,
    counts: {
      targets: Object.values(byStatus).reduce((sum, targets) => sum + targets, 0),
      by_status: { ...byStatus },
      by_reason: byReason.map(({ status, reason, targets }) => ({ status, reason, targets })),
      waiting_after: waitingAfter.map(({ reason, targets }) => ({ reason, targets })),
    },
    estimated_end_at: maybeTimestamp(batch.estimatedEndAt),
  };
}

/** A batch in the response to its creation. */
export function createdBatchView(batch: DetailedBatch & { readonly report: ImportResult }): View<"CreatedBatch"> {
  return { ...batchDetailsView(batch), report: importReportView(batch.report) };
}

export function importReportView({ rows, stored, faults }: ImportResult): View<"ImportReport"> {
  return { rows, stored: withoutZeros(stored), faults: faults.map(rowFaultsView) };
}

export function batchPlanView(plan: StoredPlan): View<"BatchPlan"> {
  return {
    targets: withoutZeros(plan.targets),
    faults: plan.faults.map(rowFaultsView),
    problems: plan.problems.map(({ pointer, code, detail }) => ({ pointer, code, detail })),
    instances: plan.instances.map(({ instanceId, name, phone, calls, lines, paceMs, blocked }) => ({
      instance_id: instanceId,
      name,
      phone,
      calls,
      lines,
      pace_ms: paceMs,
      blocked,
    })),
    starts_at: maybeTimestamp(plan.startsAt),
    ends_at: maybeTimestamp(plan.endsAt),
    call_ms: plan.callMs,
    call_ms_source: plan.callMsSource,
    calls: plan.calls.map(({ position, phone, instanceId, at }) => ({
      position,
      phone_number: phone,
      instance_id: instanceId,
      at: timestamp(at),
    })),
  };
}

export function batchTargetView(target: TargetDetails): View<"BatchTarget"> {
  const { waiting } = target;
  return {
    position: target.position,
    row: target.row,
    phone_number: target.phone,
    ...(target.extension !== undefined && { extension: target.extension }),
    variables: { ...target.variables },
    reference: target.reference ?? null,
    metadata: { ...target.metadata },
    status: target.status,
    faults: (target.faults ?? []).map(targetFaultView),
    attempts: target.attempts,
    next_attempt_at: maybeTimestamp(target.nextAttemptAt),
    waiting: waiting && { reason: waiting.reason, after: waiting.after, until: maybeTimestamp(waiting.until) },
    call_id: target.callId,
    reason: target.reason,
    result: target.result ? targetResultView(target.result) : null,
    updated_at: timestamp(target.updatedAt),
  };
}

function targetResultView(result: StoredResult): View<"TargetResult"> {
  return {
    reason: result.reason,
    detail: result.detail,
    answered_by: result.answeredBy,
    heard_ms: result.heardMs,
    heard_ratio: result.heardRatio,
    heard_evidence: result.heardEvidence,
    duration_ms: result.durationMs,
    started_at: maybeTimestamp(result.startedAt),
    ended_at: timestamp(result.endedAt),
    result: result.result ? { ...result.result } : null,
  };
}

function rowFaultsView({ row, position, phone, faults }: RowWithFaults): View<"RowFaults"> {
  return {
    row,
    position,
    phone_number: phone,
    faults: faults.map(targetFaultView),
  };
}

function targetFaultView(fault: StoredFault): View<"TargetFault"> {
  const { column, fileColumn, code } = fault;
  return { column, ...(fileColumn !== undefined && { file_column: fileColumn }), code, detail: detailInFile(fault) };
}

function withoutZeros(counts: Readonly<Partial<Record<TargetStatus, number>>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, targets]) => targets > 0));
}
