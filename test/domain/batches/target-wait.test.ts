import { describe, expect, test } from "vitest";
import type { Batch, BatchTarget, TargetResult } from "../../../src/domain/batches/batch.ts";
import { nextTargetTime } from "../../../src/domain/batches/target-time.ts";
import { calledAgainAfter, countsByRetryReason, targetWait } from "../../../src/domain/batches/target-wait.ts";

const NOW = Date.UTC(2026, 0, 31, 12);
const MINUTE = 60_000;
const NINE_TO_ONE = { hours: { from: "09:00", until: "13:00" }, zone: "UTC" };
const NIGHT = { hours: { from: "22:00", until: "23:00" }, zone: "UTC" };
const RETRY = { on: ["busy"], times: 2, backoff: { firstMs: 20 * MINUTE, factor: 2, maxMs: 90 * MINUTE } } as const;

type WaitingBatch = Pick<Batch, "status" | "schedule" | "retry" | "gapMs">;
type WaitingTarget = Pick<BatchTarget, "status" | "zones" | "attempts" | "nextAttemptAt" | "reason" | "result">;

function waitOf(batch: Partial<WaitingBatch>, target: Partial<WaitingTarget>, limit?: "daily_call_limit") {
  const waitingBatch: WaitingBatch = { status: "RUNNING", schedule: {}, gapMs: 15 * MINUTE, ...batch };
  const hours = { schedule: waitingBatch.schedule, callingHours: undefined };
  const nextTime = (zones: string, at: number) => nextTargetTime(hours, zones, at);
  const waitingTarget: WaitingTarget = {
    status: "WAITING",
    zones: "UTC",
    attempts: 0,
    nextAttemptAt: NOW,
    reason: null,
  };
  return targetWait(waitingBatch, { ...waitingTarget, ...target }, { now: NOW, nextTime, limit });
}

/** A target whose last call ended `ms` ago. */
function calledAgo(ms: number, reason: TargetResult["reason"], nextAttemptAt: number): Partial<WaitingTarget> {
  const heard = { heardMs: 0, heardRatio: null, heardEvidence: null };
  const times = { durationMs: 0, startedAt: null, endedAt: NOW - ms };
  return { attempts: 1, reason, nextAttemptAt, result: { reason, detail: null, answeredBy: null, ...heard, ...times } };
}

describe("a target waits", () => {
  test.each([
    ["for the start of a draft", { status: "DRAFT" }, { nextAttemptAt: NOW + MINUTE }, "start", null],
    ["for the start time", { status: "SCHEDULED", schedule: { startAt: NOW + 5 } }, {}, "start", NOW + 5],
    [
      "for hours that begin after the start time",
      { status: "SCHEDULED", schedule: { startAt: NOW + 5, ...NIGHT } },
      { nextAttemptAt: NOW + 600 * MINUTE },
      "hours",
      NOW + 600 * MINUTE,
    ],
    ["for the end of a pause", { status: "PAUSED", schedule: NIGHT }, {}, "paused", null],
    ["for its hours, before they were looked at", { schedule: NIGHT }, {}, "hours", NOW + 600 * MINUTE],
    ["for its turn and a free line", { schedule: NINE_TO_ONE }, { nextAttemptAt: NOW - 1 }, "line", null],
    ["after another call to its number", {}, { nextAttemptAt: NOW + MINUTE }, "gap", NOW + MINUTE],
  ] as const)("%s", (_, batch, target, reason, until) => {
    expect(waitOf(batch, target)).toEqual({ reason, after: null, until });
  });

  test.each([
    ["for its retry", {}, calledAgo(MINUTE, "busy", NOW + 19 * MINUTE), "retry", NOW + 19 * MINUTE],
    [
      "for its second retry, which comes later",
      {},
      { ...calledAgo(MINUTE, "busy", NOW + 39 * MINUTE), attempts: 2 },
      "retry",
      NOW + 39 * MINUTE,
    ],
    [
      "for a replacement of a call that was not dialled",
      { retry: undefined },
      { ...calledAgo(1_000, "instance_offline", NOW + 29_000), attempts: 0 },
      "retry",
      NOW + 29_000,
    ],
    [
      "for its hours, if its retry is outside of them",
      { schedule: NINE_TO_ONE, retry: { ...RETRY, backoff: { ...RETRY.backoff, firstMs: 70 * MINUTE } } },
      calledAgo(0, "busy", NOW + 70 * MINUTE),
      "hours",
      NOW + 21 * 60 * MINUTE,
    ],
    ["for a line, if its retry is due", {}, calledAgo(20 * MINUTE, "busy", NOW), "line", null],
    ["after another call to its number", {}, calledAgo(30 * MINUTE, "busy", NOW + MINUTE), "gap", NOW + MINUTE],
    ["for the end of a pause", { status: "PAUSED" }, calledAgo(MINUTE, "busy", NOW), "paused", null],
  ] as const)("%s, with the reason of its last call", (_, batch, target, reason, until) => {
    expect(waitOf({ retry: RETRY, ...batch }, target)).toEqual({ reason, after: target.reason, until });
  });

  test("at a limit, if it is due", () => {
    expect(waitOf({}, {}, "daily_call_limit")?.reason).toBe("daily_call_limit");
    expect(waitOf({ schedule: NIGHT }, {}, "daily_call_limit")?.reason).toBe("hours");
  });
});

test.each([
  ["that does not wait", {}, { status: "CALLING" }],
  ["in a cancelled batch", { status: "CANCELLED" }, {}],
  ["whose hours never come", { schedule: { endAt: NOW } }, {}],
  ["whose zone is unknown", { schedule: { ...NIGHT, zone: "callee" } }, { zones: "" }],
  ["whose time has an unknown cause", { gapMs: 0 }, { nextAttemptAt: NOW + MINUTE }],
] as const)("there is no wait for a target %s", (_, batch, target) => {
  expect(waitOf(batch, target)).toBeNull();
});

test("a call that a machine completed is repeated because of the machine", () => {
  expect(["machine_hung_up", "message_played", "busy"].map(calledAgainAfter)).toEqual(["machine", "machine", "busy"]);
  const counts = [
    { reason: "busy", targets: 3 },
    { reason: "message_played", targets: 2 },
    { reason: "machine_hung_up", targets: 2 },
  ];
  expect(countsByRetryReason(counts)).toEqual([
    { reason: "machine", targets: 4 },
    { reason: "busy", targets: 3 },
  ]);
});
