import type { BatchDetails } from "../../../../../src/client/index.ts";

/** Statuses of targets that are never called. */
const UNCALLED_STATUSES = ["INVALID", "DUPLICATE"] as const;
/** Statuses of targets that have ended. */
const ENDED_STATUSES = ["COMPLETED", "FAILED", "CANCELLED"] as const;
/** Time over which the current rate is measured, ms. */
const RATE_WINDOW_MS = 60_000;
/** Minimum time for measuring a rate, ms. */
const MIN_RATE_MS = 5_000;

/** Counts of a batch's targets. */
export interface BatchProgress {
  /** Targets that have been or will be called. */
  readonly total: number;
  readonly ended: number;
  readonly waiting: number;
  readonly calling: number;
  /** Invalid rows and duplicates. */
  readonly skipped: number;
  /** Share of targets that have ended, 0 to 1. */
  readonly share: number;
}

/** The progress according to a batch's counts. */
export function batchProgressOf({ by_status }: Pick<BatchDetails["counts"], "by_status">): BatchProgress {
  const sum = (statuses: readonly string[]) => statuses.reduce((total, status) => total + (by_status[status] ?? 0), 0);
  const ended = sum(ENDED_STATUSES);
  const [waiting, calling] = [sum(["WAITING"]), sum(["CALLING"])];
  const total = ended + waiting + calling;
  return { total, ended, waiting, calling, skipped: sum(UNCALLED_STATUSES), share: total === 0 ? 0 : ended / total };
}

/** Number of targets that had ended at a time, which is in ms since 1970-01-01 UTC. */
export interface ProgressSample {
  readonly at: number;
  readonly ended: number;
}

/** The samples with a new one added, without those that are too old for measuring the rate. */
export function withSample(samples: readonly ProgressSample[], sample: ProgressSample): readonly ProgressSample[] {
  return [...samples.filter(({ at }) => sample.at - at <= RATE_WINDOW_MS), sample];
}

/** Number of targets that ended per minute, over the last minute; undefined if there are too few samples. */
export function ratePerMinute(samples: readonly ProgressSample[]): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.at - first.at < MIN_RATE_MS) return undefined;
  return ((last.ended - first.ended) * 60_000) / (last.at - first.at);
}

/** A bar of the outcome chart: a reason and its number of targets. */
export interface OutcomeBar {
  readonly reason: string;
  readonly isGood: boolean;
  readonly targets: number;
}

/** At most `max` bars of the chart, longest first; the last one, `other`, has the targets with all other reasons. */
export function outcomeBars(byReason: BatchDetails["counts"]["by_reason"], max = 8): OutcomeBar[] {
  const bars = byReason.map(({ status, reason, targets }) => ({ reason, isGood: status === "COMPLETED", targets }));
  bars.sort((a, b) => b.targets - a.targets);
  if (bars.length <= max) return bars;
  const otherBars = bars.splice(max - 1);
  return [
    ...bars,
    { reason: "other", isGood: false, targets: otherBars.reduce((sum, { targets }) => sum + targets, 0) },
  ];
}
