import { nextTurn } from "../../base/turn-budget.ts";
import type { Batch, BatchTarget } from "../../domain/batches/batch.ts";
import { nextTargetTime, targetHours } from "../../domain/batches/target-time.ts";
import { type BatchLimit, targetWait } from "../../domain/batches/target-wait.ts";
import { numberForms } from "../../domain/numbers/number-forms.ts";
import type { Storage } from "../../ports/storage.ts";
import type { Context } from "../context.ts";
import type { Lines } from "../instances/lines.ts";
import { batchProtection } from "./batch-hours.ts";
import type { TargetDetails } from "./batch-use-cases.ts";

export { hoursOfBatch } from "./batch-hours.ts";

/** Number of targets explained in one turn of the event loop. */
const TARGETS_PER_TURN = 50;

/**
 * End of the gap after the latest call to a number from outside the batch, ms since 1970-01-01 UTC; 0 without such a
 * call.
 */
export async function gapEnd(
  { calls }: Pick<Storage, "calls">,
  batch: Pick<Batch, "id" | "userId" | "gapMs">,
  phone: string,
  now: number,
): Promise<number> {
  let latest = 0;
  for (const targetPhone of numberForms(phone))
    for (const call of await calls.list(batch.userId, { targetPhone }, { limit: 1 }))
      if (call.batchId !== batch.id) latest = Math.max(latest, call.endedAt ?? now);
  return latest === 0 ? 0 : Math.min(latest, now) + batch.gapMs;
}

/** Targets of a batch, each with what it waits for. @param limit the limit that the batch is waiting for */
export async function targetsWithWaits(
  context: Pick<Context, "policy" | "storage" | "system" | "telephony">,
  lines: Pick<Lines, "find">,
  batch: Batch,
  targets: readonly BatchTarget[],
  limit: BatchLimit | undefined,
): Promise<TargetDetails[]> {
  const hours = targetHours(batch.schedule, await batchProtection(context, lines, batch));
  const now = context.system.now();
  // Many targets share their zones and time, and computing a zone's local time is slow.
  const times = new Map<string, number | undefined>();
  const nextTime = (zones: string, at: number): number | undefined => {
    const key = `${at} ${zones}`;
    if (!times.has(key)) times.set(key, nextTargetTime(hours, zones, at));
    return times.get(key);
  };
  const details: TargetDetails[] = [];
  for (const target of targets) {
    let waiting = targetWait(batch, target, { now, nextTime, limit });
    if (waiting?.reason === "gap" && (await gapEnd(context.storage, batch, target.phone, now)) <= now) waiting = null;
    if (details.push({ ...target, waiting }) % TARGETS_PER_TURN === 0) await nextTurn();
  }
  return details;
}
