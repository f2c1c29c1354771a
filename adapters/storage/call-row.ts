import type { Call } from "../../src/domain/call.ts";
import type { CallPatch } from "../../src/ports/storage.ts";
import { qualityColumn, qualityIn } from "./quality-column.ts";
import type { CallRow, CallTable } from "./schema.ts";

/** The row of a call. */
export function callRow(call: Call): CallRow {
  return {
    id: call.id,
    instance_id: call.instanceId,
    user_id: call.userId,
    token_id: call.tokenId,
    allowed_prefixes: call.allowedPrefixes === undefined ? null : JSON.stringify(call.allowedPrefixes),
    max_calls_per_day: call.maxCallsPerDay ?? null,
    status: call.status,
    type: call.message.type,
    target_phone: call.targetPhone,
    caller_id: call.from === undefined ? null : JSON.stringify(call.from),
    sip: call.sip === undefined ? null : JSON.stringify(call.sip),
    sip_call_id: call.sipCallId ?? null,
    message: JSON.stringify(call.message),
    reference: call.reference ?? null,
    metadata: call.metadata === undefined ? null : JSON.stringify(call.metadata),
    outcome: call.outcome && JSON.stringify(call.outcome),
    result: call.result === undefined ? null : JSON.stringify(call.result),
    result_error: call.resultError ?? null,
    turns: call.turns === undefined ? null : JSON.stringify(call.turns),
    media_statistics: call.mediaStatistics && JSON.stringify(call.mediaStatistics),
    quality: qualityColumn(call.quality),
    recorded_ms: call.recordedMs,
    created_at: call.createdAt,
    started_at: call.startedAt,
    ended_at: call.endedAt,
    slot: call.slot,
    owner: call.owner,
    dialing_at: call.dialingAt,
    counted_at: null,
    demo_scope: call.isDemo ? call.instanceId : null,
    stored_bytes: 0,
    version: call.version,
  };
}

/** The call of a row. */
export function callOf(row: CallRow): Call {
  return {
    id: row.id,
    instanceId: row.instance_id,
    userId: row.user_id,
    tokenId: row.token_id,
    ...(row.allowed_prefixes === null ? {} : { allowedPrefixes: JSON.parse(row.allowed_prefixes) }),
    ...(row.max_calls_per_day === null ? {} : { maxCallsPerDay: row.max_calls_per_day }),
    status: row.status,
    targetPhone: row.target_phone,
    ...(row.caller_id === null ? {} : { from: JSON.parse(row.caller_id) }),
    ...(row.sip === null ? {} : { sip: JSON.parse(row.sip) }),
    ...(row.sip_call_id === null ? {} : { sipCallId: row.sip_call_id }),
    ...(row.demo_scope === null ? {} : { isDemo: true as const }),
    message: JSON.parse(row.message),
    ...(row.reference === null ? {} : { reference: row.reference }),
    ...(row.metadata === null ? {} : { metadata: JSON.parse(row.metadata) }),
    outcome: row.outcome === null ? null : JSON.parse(row.outcome),
    ...(row.result === null ? {} : { result: JSON.parse(row.result) }),
    ...(row.result_error === null ? {} : { resultError: row.result_error }),
    ...(row.turns === null ? {} : { turns: JSON.parse(row.turns) }),
    mediaStatistics: row.media_statistics === null ? null : JSON.parse(row.media_statistics),
    ...(row.quality === null ? {} : { quality: qualityIn(row.quality) }),
    recordedMs: row.recorded_ms,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    slot: row.slot,
    owner: row.owner,
    dialingAt: row.dialing_at,
    version: row.version,
  };
}

/** The columns that a patch changes. */
export function callColumns(patch: CallPatch): Partial<CallTable> {
  return {
    ...(patch.status !== undefined && { status: patch.status }),
    ...(patch.outcome !== undefined && { outcome: patch.outcome && JSON.stringify(patch.outcome) }),
    ...(patch.result !== undefined && { result: JSON.stringify(patch.result) }),
    ...(patch.resultError !== undefined && { result_error: patch.resultError }),
    ...(patch.turns !== undefined && { turns: JSON.stringify(patch.turns) }),
    ...(patch.mediaStatistics !== undefined && {
      media_statistics: patch.mediaStatistics && JSON.stringify(patch.mediaStatistics),
    }),
    ...(patch.quality !== undefined && { quality: qualityColumn(patch.quality) }),
    ...(patch.recordedMs !== undefined && { recorded_ms: patch.recordedMs }),
    ...(patch.sipCallId !== undefined && { sip_call_id: patch.sipCallId }),
    ...(patch.startedAt !== undefined && { started_at: patch.startedAt }),
    ...(patch.endedAt !== undefined && { ended_at: patch.endedAt }),
    ...(patch.owner !== undefined && { owner: patch.owner }),
    ...(patch.dialingAt !== undefined && { dialing_at: patch.dialingAt }),
    ...(patch.message !== undefined && { type: patch.message.type, message: JSON.stringify(patch.message) }),
  };
}
