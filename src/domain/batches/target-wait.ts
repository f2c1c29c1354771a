import { COMPLETED_REASONS } from "../calls/outcome.ts";
import type { Batch, BatchCounts, BatchTarget } from "./batch.ts";
import { UNDIALLED_WAIT_MS } from "./batch-flow.ts";
import { nextAttemptAt } from "./retry.ts";

/** Refusals of a call that stop the whole batch for a while. */
export const BATCH_LIMITS = ["daily_call_limit", "storage_quota", "server_busy"] as const;
/** One of {@link BATCH_LIMITS}. */
export type BatchLimit = (typeof BATCH_LIMITS)[number];

/**
 * Causes of a target's wait. `start`, `paused`: the batch; `hours`: hours of the batch or of the server; `gap`: the
 * number was called outside of the batch; `retry`: it is called again; `line`: its turn, and a free line.
 */
export const WAIT_REASONS = ["start", "paused", "hours", "gap", "retry", "line", ...BATCH_LIMITS] as const;
/** One of {@link WAIT_REASONS}. */
export type WaitReason = (typeof WAIT_REASONS)[number];

/** The wait of a target: its cause and its end. */
export interface TargetWait {
  readonly reason: WaitReason;
  /** As {@link calledAgainAfter} returns it; null before its first call. */
  readonly after: string | null;
  /** End of the wait, ms since 1970-01-01 UTC; null if it is unknown. */
  readonly until: number | null;
}

/** Circumstances that decide what the targets of a batch wait for. */
export interface WaitCircumstances {
  readonly now: number;
  /** `nextTargetTime` with the hours of the batch. */
  readonly nextTime: (zones: string, at: number) => number | undefined;
  /** The limit that the batch is waiting for. */
  readonly limit: BatchLimit | undefined;
}

/**
 * Returns the cause and the end of a target's wait; null if it does not wait, or if its time has an unknown cause.
 * `gap` is the cause that remains, to be confirmed by the last call to its number.
 */
export function targetWait(
  batch: Pick<Batch, "status" | "schedule" | "retry" | "gapMs">,
  target: Pick<BatchTarget, "status" | "zones" | "attempts" | "nextAttemptAt" | "reason" | "result">,
  { now, nextTime, limit }: WaitCircumstances,
): TargetWait | null {
  if (target.status !== "WAITING") return null;
  const after = target.reason === null ? null : calledAgainAfter(target.reason);
  const wait = (reason: WaitReason, until: number | null = null): TargetWait => ({ reason, after, until });
  if (batch.status === "DRAFT") return wait("start");
  if (batch.status === "PAUSED") return wait("paused");
  if (batch.status !== "SCHEDULED" && batch.status !== "RUNNING") return null;
  const ownTime = Math.max(now, target.nextAttemptAt ?? now);
  const at = nextTime(target.zones, ownTime);
  if (at === undefined) return null;
  if (at <= now) return wait(limit ?? "line");
  const isByHours = at !== ownTime || at === nextTime(target.zones, now);
  if (isByHours) return wait(at === batch.schedule.startAt ? "start" : "hours", at);
  if (isCallAgainTime(batch, target)) return wait("retry", at);
  return batch.gapMs > 0 ? wait("gap", at) : null;
}

/**
 * The reason why a target is called again, derived from the reason of its last call: a completed call leads to another
 * call only after a machine.
 */
export function calledAgainAfter(reason: string): string {
  return (COMPLETED_REASONS as readonly string[]).includes(reason) ? "machine" : reason;
}

/** The counts of waiting targets by the reason for calling them again, the most frequent first. */
export function countsByRetryReason(counts: BatchCounts["waitingAfter"]): BatchCounts["waitingAfter"] {
  const sums = new Map<string, number>();
  for (const { reason, targets } of counts) {
    const after = calledAgainAfter(reason);
    sums.set(after, (sums.get(after) ?? 0) + targets);
  }
  return [...sums].map(([reason, targets]) => ({ reason, targets })).sort((a, b) => b.targets - a.targets);
}

/** True if the target waits for the time that was set at the end of its last call. */
function isCallAgainTime(
  { retry }: Pick<Batch, "retry">,
  { attempts, nextAttemptAt: ownTime, result }: Pick<BatchTarget, "attempts" | "nextAttemptAt" | "result">,
): boolean {
  if (!result) return false;
  const { endedAt } = result;
  return ownTime === endedAt + UNDIALLED_WAIT_MS || ownTime === nextAttemptAt(retry, attempts, result, endedAt);
}
