import type { BatchTarget, TargetStatus } from "../../../src/domain/batches/batch.ts";
import { type Call, isActive } from "../../../src/domain/calls/call.ts";
import { ALICE } from "../../support/application.ts";
import type { Run } from "./run.ts";

/** Checks the batches at rest. @param isEnd true once everything is repaired and all work has ended */
export async function checkBatches(run: Run, calls: readonly Call[], isEnd: boolean): Promise<void> {
  const { batches } = run.database;
  for (const { id } of await batches.list(ALICE.userId, {}, {})) {
    const targets = await batches.targets(id, {}, {});
    const batchCalls = calls.filter(({ batchId }) => batchId === id);
    for (const target of targets) checkTarget(run, target, batchCalls, isEnd);
    const actualCounts: Partial<Record<TargetStatus, number>> = {};
    for (const { status } of targets) actualCounts[status] = (actualCounts[status] ?? 0) + 1;
    const actualAfter: Record<string, number> = {};
    for (const { status, reason } of targets)
      if (status === "WAITING" && reason !== null) actualAfter[reason] = (actualAfter[reason] ?? 0) + 1;
    const { byStatus, waitingAfter } = await batches.counts(id);
    const storedAfter = Object.fromEntries(waitingAfter.map(({ reason, targets: count }) => [reason, count]));
    const [actualCount, storedCount] = [
      [sortedCounts(actualCounts), sortedCounts(actualAfter)],
      [sortedCounts(byStatus), sortedCounts(storedAfter)],
    ].map((counts) => JSON.stringify(counts));
    run.findings.expect("counts-agree", actualCount === storedCount, `${id} has ${actualCount}, not ${storedCount}`);
  }
}

function checkTarget(run: Run, target: BatchTarget, batchCalls: readonly Call[], isEnd: boolean): void {
  const { findings, attempts } = run;
  const { position, status, callId } = target;
  const name = `target ${position} of ${target.batchId}`;
  const ownCalls = batchCalls.filter(({ batchPosition }) => batchPosition === position);
  const dials = attempts.filter((attempt) => !attempt.isReturned && ownCalls.some(({ id }) => id === attempt.callId));
  findings.expect(
    "target-once",
    dials.length <= target.attempts,
    () => `${name} was dialled ${dials.length} times, and has ${target.attempts} attempts`,
  );
  const activeCalls = ownCalls.filter((call) => isActive(call.status));
  findings.expect("target-once", activeCalls.length <= 1, `${name} has ${activeCalls.length} active calls`);
  const isFollowed = activeCalls.every(({ id }) => id === callId && status === "CALLING");
  findings.expect(
    "target-follows-call",
    isFollowed,
    `${name} is ${status}, and its call ${activeCalls[0]?.id} is active`,
  );
  if (status === "COMPLETED") {
    const hasCompleted = ownCalls.some((call) => call.id === callId && call.status === "COMPLETED");
    findings.expect("target-follows-call", hasCompleted, `${name} is COMPLETED, and ${callId} is not`);
  }
  if (isEnd)
    findings.expect(
      "target-follows-call",
      status !== "CALLING",
      `${name} is CALLING, and its call ${callId} has ended`,
    );
}

function sortedCounts(counts: Readonly<Record<string, number>>): unknown {
  return Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
}
