import type { FailedReason } from "../../domain/calls/outcome.ts";
import type { Context } from "../context.ts";
import type { QueuedCall } from "../use-cases.ts";

const DAY_MS = 86_400_000;
const DAYS = 14;

/** Results of a user's calls of the last 14 days. Each day is counted separately, so that other work continues in between. */
export async function callSummary(
  { storage, system }: Pick<Context, "storage" | "system">,
  userId: string,
): Promise<QueuedCall> {
  const today = Math.floor(system.now() / DAY_MS) * DAY_MS;
  const days: QueuedCall["days"][number][] = [];
  const failures = new Map<FailedReason, number>();
  for (let from = today - (DAYS - 1) * DAY_MS; from <= today; from += DAY_MS) {
    const tally = await storage.calls.tally(userId, from, from + DAY_MS);
    days.push({
      day: new Date(from).toISOString().slice(0, 10),
      completed: tally.completed,
      failed: tally.failed,
    });
    for (const [reason, calls] of Object.entries(tally.failures) as [FailedReason, number][])
      failures.set(reason, (failures.get(reason) ?? 0) + calls);
  }
  const byFrequency = [...failures].map(([reason, calls]) => ({ reason, calls }));
  return { days, failures: byFrequency.sort((a, b) => b.calls - a.calls || (a.reason < b.reason ? -1 : 1)) };
}
