import type { Call } from "../../src/domain/calls/call.ts";
import type { CallPatch } from "../../src/ports/storage.ts";
import { RECORDS } from "./records.ts";
import type { CallRow } from "./schema.ts";

/** The row of a new call. */
export function callRow(call: Call): CallRow {
  return {
    ...RECORDS.calls.row(call),
    type: call.message.type,
    counted_at: null,
    demo_scope: call.isDemo ? call.instanceId : null,
    stored_bytes: 0,
  };
}

/** The call of a row. */
export function callOf(row: CallRow): Call {
  const call = RECORDS.calls.record(row);
  return row.demo_scope === null ? call : { ...call, isDemo: true };
}

/** The columns that a patch changes. */
export function callColumns(patch: CallPatch): Partial<CallRow> {
  return { ...RECORDS.calls.changes(patch), ...(patch.message && { type: patch.message.type }) };
}
