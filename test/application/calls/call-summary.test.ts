import { expect, test } from "vitest";
import { callSummary } from "../../../src/application/queries.ts";
import type { CallTally } from "../../../src/ports/storage.ts";
import { ALICE, BOB, NUMBER, World } from "../../support/application.ts";

const DAY_MS = 86_400_000;

/** Summary at this moment; `tallies` are keyed by the start of their day. */
function summaryAt(now: string, tallies: Readonly<Record<string, CallTally>> = {}) {
  const ranges: [user: string, from: string, until: string][] = [];
  const tally = async (user: string, from: number, until: number): Promise<CallTally> => {
    const [first, end] = [new Date(from).toISOString(), new Date(until).toISOString()];
    ranges.push([user, first, end]);
    return tallies[first] ?? { completed: 0, failed: 0, failures: {} };
  };
  const context = { system: { now: () => Date.parse(now) }, storage: { calls: { tally } } };
  return callSummary(context as unknown as Parameters<typeof callSummary>[0], "usr_1").then((summary) => ({
    summary,
    ranges,
  }));
}

test("fourteen full UTC days are counted, up to today", async () => {
  for (const now of ["2026-03-01T00:00:00.000Z", "2026-03-01T23:59:59.999Z"]) {
    const { ranges, summary } = await summaryAt(now);
    expect(ranges).toHaveLength(14);
    expect(ranges[0]).toEqual(["usr_1", "2026-02-16T00:00:00.000Z", "2026-02-17T00:00:00.000Z"]);
    expect(ranges[13]).toEqual(["usr_1", "2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z"]);
    for (const [, from, until] of ranges) expect(Date.parse(until) - Date.parse(from)).toBe(DAY_MS);
    expect(summary.days.map(({ day }) => day)).toEqual(ranges.map(([, from]) => from.slice(0, 10)));
  }
});

test("failures of all days are added up, the most frequent first", async () => {
  const { summary } = await summaryAt("2026-03-01T12:00:00.000Z", {
    "2026-02-16T00:00:00.000Z": { completed: 5, failed: 3, failures: { busy: 1, no_answer: 2 } },
    "2026-03-01T00:00:00.000Z": { completed: 0, failed: 4, failures: { busy: 3, declined: 1 } },
  });
  expect(summary.days[0]).toEqual({ day: "2026-02-16", completed: 5, failed: 3 });
  expect(summary.days[13]).toEqual({ day: "2026-03-01", completed: 0, failed: 4 });
  expect(summary.failures).toEqual([
    { reason: "busy", calls: 4 },
    { reason: "no_answer", calls: 2 },
    { reason: "declined", calls: 1 },
  ]);
});

test("a summary has its user's calls, and a demo token gets none", async () => {
  const world = await World.start();
  const { id: instanceId } = await world.newInstance(ALICE);
  const target = { phoneNumber: NUMBER };
  const call = await world.app.calls.create(ALICE, { instanceId, type: "DYNAMIC_STREAM", target });
  await world.app.calls.hangUp(ALICE, call.id);
  const { days, failures } = await world.app.queries.callSummary(ALICE);
  expect(days.at(-1)).toMatchObject({ completed: 0, failed: 1 });
  expect(failures).toEqual([{ reason: "terminated", calls: 1 }]);
  expect((await world.app.queries.callSummary(BOB)).failures).toEqual([]);
  await expect(world.app.queries.callSummary({ ...ALICE, demoInstanceId: instanceId })).rejects.toMatchObject({
    code: "demo_token_restricted",
  });
  await world.stop();
});
