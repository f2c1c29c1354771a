import { nextTurn } from "../../base/turn-budget.ts";
import type { Batch, BatchTarget, TargetStatus } from "../../domain/batches/batch.ts";
import { targetHours } from "../../domain/batches/target-time.ts";
import { protectionInForce } from "../../domain/dialling-rules/number-protection.ts";
import { linesInForce } from "../../domain/instances/queue-capacity.ts";
import { phoneKeyOf } from "../../domain/numbers/number-forms.ts";
import type { Storage } from "../../ports/storage.ts";
import type { Context } from "../context.ts";
import type { Lines } from "../instances/lines.ts";
import { batchProtection } from "./batch-hours.ts";
import { CallTimes, type PlannedInstance } from "./batch-plan.ts";
import type { BatchPlan, RowFaults } from "./batch-use-cases.ts";

type PlanContext = Pick<Context, "policy" | "storage" | "system" | "telephony">;

/** Maximum number of calls and of invalid rows in a plan. */
const MAX_LISTED = 1_000;
/** Number of calls read at once for their phone numbers, and maximum number of these reads. */
const CALL_PAGE = 200;
const MAX_CALL_PAGES = 5;
/** Maximum time from a call's creation to its end for the gap after it to be considered, ms. */
const CALL_AGE_MS = 3_600_000;
/** Time from the dial to the answer, ms. */
const RING_MS = 8_000;
/** Length of a spoken character, ms. */
const CHARACTER_MS = 65;
/** Length of a call with an agent, ms. */
const AGENT_CALL_MS = 60_000;

/** The plan of a batch as of now. @param pages its targets by position, in pages */
export async function planOf(
  context: PlanContext,
  lines: Lines,
  batch: Batch,
  pages: () => AsyncIterable<readonly BatchTarget[]>,
): Promise<BatchPlan> {
  const { storage, system } = context;
  const instances: PlannedInstance[] = [];
  const problems: { pointer: string; code: string; detail: string }[] = [];
  for (const [index, id] of batch.instanceIds.entries()) {
    const instance = await plannedInstance(context, lines, id);
    instances.push(instance);
    if (instance.blocked !== null)
      problems.push({ pointer: `/instanceIds/${index}`, code: "instance_offline", detail: instance.blocked });
  }
  const { callMs, source } = callLength(batch);
  const hours = targetHours(batch.schedule, await batchProtection(context, lines, batch));
  const times = new CallTimes(batch, hours, instances, { callMs, maxCalls: MAX_LISTED });
  const targets: Partial<Record<TargetStatus, number>> = {};
  const faults: RowFaults[] = [];
  const now = system.now();
  const gapEnds = await gapEndsOf(storage, batch, now);
  for await (const page of pages())
    for (const target of page) {
      const { status, row, position, phone } = target;
      targets[status] = (targets[status] ?? 0) + 1;
      if (target.faults && faults.length < MAX_LISTED) faults.push({ row, position, phone, faults: target.faults });
      if (status === "WAITING")
        times.add(target, Math.max(now, target.nextAttemptAt ?? 0, gapEnds.get(target.phoneKey ?? "") ?? 0));
    }
  await times.plan();
  const { startsAt, endsAt, calls } = times;
  return {
    ...{ targets, faults, problems, instances: times.instances, startsAt, endsAt },
    ...{ callMs, callMsSource: source, calls },
  };
}

/**
 * Ends of the gaps after calls from outside the batch, by `phoneKeyOf`, ms since 1970-01-01 UTC. Only the user's newest
 * calls are read: a query for each number would take too long.
 */
async function gapEndsOf(
  { calls }: Pick<Storage, "calls">,
  { id: planned, userId, gapMs }: Batch,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const ends = new Map<string, number>();
  const createdAfter = now - gapMs - CALL_AGE_MS;
  let after: string | undefined;
  for (let pages = 0; gapMs > 0 && pages < MAX_CALL_PAGES; pages++) {
    const page = await calls.list(userId, { createdAfter }, { limit: CALL_PAGE, after });
    for (const { batchId, targetPhone, endedAt } of page) {
      const key = phoneKeyOf(targetPhone);
      // Only the latest call to a number counts, and it is listed first.
      if (!ends.has(key)) ends.set(key, batchId === planned ? 0 : Math.min(endedAt ?? now, now) + gapMs);
    }
    after = page.at(-1)?.id;
    if (page.length < CALL_PAGE) break;
    await nextTurn();
  }
  return ends;
}

async function plannedInstance(
  { policy, storage, system, telephony }: PlanContext,
  lines: Lines,
  instanceId: string,
): Promise<PlannedInstance> {
  const monitor = lines.find(instanceId);
  const storedInstance = monitor?.instance ?? (await storage.instances.get(instanceId));
  const network = monitor?.telephony ?? telephony.get(storedInstance?.provider ?? "");
  const connection = storedInstance && lines.connection(storedInstance);
  const { paceMs = 0, paceJitter = 0 } = protectionInForce(policy, network?.capabilities.protection);
  const pausedUntil = connection?.pause?.until ?? 0;
  const blocked =
    !storedInstance || storedInstance.status === "DELETED" ? "the instance is deleted" : (connection?.reason ?? null);
  return {
    instanceId,
    name: storedInstance?.name ?? "",
    phone: storedInstance?.phone ?? null,
    lines: linesInForce(policy, network?.capabilities.lines),
    paceMs: paceMs * (1 + paceJitter / 2),
    blocked,
    freeAt: Math.max(system.now(), pausedUntil),
  };
}

/** The call length that a plan assumes, ms. */
function callLength({ message }: Batch): { callMs: number; source: BatchPlan["callMsSource"] } {
  if (message.type === "DYNAMIC_AGENT") return { callMs: AGENT_CALL_MS, source: "assumed" };
  if (message.type === "FIXED_AUDIO") {
    const { durationMs = 0 } = (message.audio ?? {}) as { durationMs?: number };
    return { callMs: RING_MS + durationMs, source: "message" };
  }
  const { text = "" } = (message.tts ?? {}) as { text?: string };
  return { callMs: RING_MS + Math.round(text.length * CHARACTER_MS), source: "assumed" };
}
