import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CallListFilter } from "../../../adapters/console/app/pages/calls/call-filter.ts";
import { CallRows, type ListedCall } from "../../../adapters/console/app/pages/calls/call-rows.ts";
import { idSource } from "../../../src/base/ids.ts";
import type { CallEvent } from "../../../src/client/index.ts";
import { fuzz } from "../../support/fuzz.ts";

const START = Date.parse("2026-11-27T10:00:00.000Z");
const at = (second: number): string => new Date(START + second * 1_000).toISOString();

/** The id of a call that was created in this second. */
function idAt(second: number): string {
  return idSource(
    () => START + second * 1_000,
    (bytes) => bytes.fill(7),
  )("call");
}

function call(second: number, fields: Partial<ListedCall> = {}): ListedCall {
  return {
    id: idAt(second),
    instance_id: "inst_1",
    type: "FIXED_TTS",
    status: "QUEUED",
    target_phone: "+12025550100",
    created_at: at(second),
    started_at: null,
    ended_at: null,
    outcome: null,
    reference: null,
    ...fields,
  };
}

function event(type: CallEvent["type"], second: number, data: object = {}): CallEvent {
  const source = { id: `evt_${type}_${second}`, timestamp: at(second + 5), instance_id: "inst_1" };
  return { ...source, type, call_id: idAt(second), data } as unknown as CallEvent;
}

function rowsOf(filter: CallListFilter, ...calls: ListedCall[]): CallRows {
  const rows = new CallRows(filter);
  rows.addPage(calls, true);
  return rows;
}

const OUTCOME = {
  reason: "busy",
  detail: null,
  answered_by: null,
  heard_ms: 0,
  heard_ratio: 0,
  heard_evidence: "none",
  duration_ms: 0,
};

describe("call rows", () => {
  it("are newest first, whatever order they arrive in", () => {
    const rows = rowsOf({}, call(1), call(3), call(2));
    expect(rows.list.map(({ created_at }) => created_at)).toEqual([at(3), at(2), at(1)]);
  });

  it("follow a call from ringing to its outcome", () => {
    const rows = rowsOf({}, call(1));
    expect(rows.apply(event("ringing", 1))).toBe("changed");
    expect(rows.list[0]?.status).toBe("RINGING");
    rows.apply(event("answered", 1));
    expect(rows.list[0]).toMatchObject({ status: "IN_PROGRESS", started_at: at(6) });
    rows.apply(event("failed", 1, { ...OUTCOME, reference: "r", metadata: {} }));
    expect(rows.list[0]).toMatchObject({ status: "FAILED", ended_at: at(6), started_at: at(6) });
    expect(rows.list[0]?.outcome).toEqual(OUTCOME);
  });

  it("never move a call back: a late event has no effect", () => {
    const rows = rowsOf({}, call(1, { status: "COMPLETED" }));
    const before = rows.list;
    expect(rows.apply(event("ringing", 1))).toBe("unchanged");
    expect(rows.list).toBe(before);
    rows.put(call(1, { status: "RINGING" }));
    expect(rows.list[0]?.status).toBe("COMPLETED");
  });

  it("stay the same array and the same objects unless they change", () => {
    const rows = rowsOf({}, call(1), call(2));
    const [second] = rows.list;
    expect(rows.apply(event("dtmf", 1, { digit: "1" }))).toBe("unchanged");
    rows.apply(event("ringing", 1));
    expect(rows.list[0]).toBe(second);
  });

  it("request a new call, but not one from an unread page", () => {
    const rows = new CallRows({});
    rows.addPage([call(20), call(10)], false);
    expect(rows.apply(event("queued", 30, { type: "FIXED_TTS" }))).toBe("unknown_call");
    expect(rows.apply(event("completed", 5, OUTCOME))).toBe("unchanged");
    rows.addPage([call(5)], true);
    expect(rows.apply(event("ringing", 1))).toBe("unknown_call");
  });

  it("do not request calls that the filter leaves out", () => {
    const rows = rowsOf({ type: "DYNAMIC_AGENT", statuses: ["QUEUED"] });
    expect(rows.apply(event("queued", 1, { type: "FIXED_TTS" }))).toBe("unchanged");
    expect(rows.apply(event("ringing", 1))).toBe("unchanged");
    expect(rows.apply(event("queued", 1, { type: "DYNAMIC_AGENT" }))).toBe("unknown_call");
    expect(rowsOf({ reference: "a" }).apply(event("queued", 1, { reference: "b" }))).toBe("unchanged");
    expect(rowsOf({ instanceId: "inst_2" }).apply(event("queued", 1))).toBe("unchanged");
  });

  it("drop calls that no longer match", () => {
    const rows = rowsOf({ statuses: ["QUEUED", "RINGING"] }, call(1));
    rows.apply(event("ringing", 1));
    expect(rows.list).toHaveLength(1);
    rows.apply(event("answered", 1));
    expect(rows.list).toEqual([]);
  });
});

const EVENT_ORDER = ["queued", "ringing", "answered", "completed"] as const;
const STATUS_AFTER = { queued: "QUEUED", ringing: "RINGING", answered: "IN_PROGRESS", completed: "COMPLETED" } as const;

fuzz(
  "after events in any order, each call has reached its latest event",
  fc.property(
    fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.constantFrom(...EVENT_ORDER)), { maxLength: 60 }),
    (events) => {
      const rows = rowsOf({}, ...Array.from({ length: 10 }, (_, second) => call(second)));
      for (const [second, type] of events) rows.apply(event(type, second, type === "completed" ? OUTCOME : {}));
      for (const row of rows.list) {
        const types = events.filter(([second]) => idAt(second) === row.id).map(([, type]) => EVENT_ORDER.indexOf(type));
        expect(row.status).toBe(STATUS_AFTER[EVENT_ORDER[Math.max(0, ...types)] ?? "queued"]);
      }
    },
  ),
);
