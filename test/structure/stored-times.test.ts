import { describe, expect, test } from "vitest";
import { MAX_AHEAD_MS } from "../../src/application/stored-times.ts";
import { isFloor } from "../../src/domain/dialling-rules/number-protection-input.ts";
import { maxRetryPauseMs, RETRY_PAUSES_MS } from "../../src/domain/webhooks/webhook-retries.ts";
import { readText, sourceFiles } from "./source-files.ts";
import { OTHER_TIMES, timeColumns, unreadTimesOf } from "./stored-times.ts";

const SCHEMA = "adapters/storage/tables/all-tables.ts";

describe("a time in the database", () => {
  test("has a maximum legal distance, or a reason to have none", () => {
    const listedColumns = [...Object.keys(MAX_AHEAD_MS), ...OTHER_TIMES.keys()];
    expect(listedColumns.toSorted()).toEqual(timeColumns({ path: SCHEMA, text: readText(SCHEMA) }).toSorted());
  });

  test("is compared with the wall clock as storedTime() reads it", () => {
    expect(sourceFiles().flatMap(unreadTimesOf)).toEqual([]);
  });

  test("is never further ahead than its rule allows", () => {
    const longestPauses = RETRY_PAUSES_MS.map((_, index) => maxRetryPauseMs(index + 1));
    expect(Math.max(...longestPauses)).toBe(MAX_AHEAD_MS["webhook_deliveries.next_attempt_at"]);
    const pauseMs = MAX_AHEAD_MS["instances.pause"];
    expect([pauseMs, pauseMs + 1].map((ms) => isFloor({ floor: 0.5, calls: 1, pauseMs: ms }))).toEqual([true, false]);
  });
});

describe("the rule", () => {
  const count = (text: string): number => unreadTimesOf({ path: "src/application/x.ts", text }).length;

  test.each([
    "function f() { return found.session.expiresAt <= now; }",
    "function f() { return now - session.lastUsedAt < 60_000; }",
    "function f() { return all.filter(({ expiresAt }) => expiresAt > this.#system.now()); }",
    "function f() { return (delivery.nextAttemptAt ?? now) <= now; }",
  ])("finds %s", (text) => {
    expect(count(text)).toBeGreaterThan(0);
  });

  test.each([
    'function f() { return storedTime("calls.created_at", call.createdAt, now) - now; }',
    "function f() { return all.map((one) => withEffectiveTimes(one, now)).filter(({ expiresAt }) => expiresAt > now); }",
    "function f() { return call.endedAt - call.startedAt; }",
  ])("permits %s", (text) => {
    expect(count(text)).toBe(0);
  });
});
