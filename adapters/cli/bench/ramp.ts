import type { LatenessFigures } from "../../../src/audio/playout/lateness.ts";

/** Counters of a trial, all since its begin. */
export interface TrialCounts {
  /** Packets or messages. */
  readonly sent: number;
  readonly received: number;
  /** Frames that a playout could not fill. */
  readonly underruns: number;
}

/** Figures of one measured number of calls or streams. */
export interface TrialFigures extends Pick<LatenessFigures, "p99" | "max"> {
  readonly count: number;
  /** Shares of the packets that were due in the window. */
  readonly sent: number;
  readonly received: number;
  readonly underruns: number;
  /** Processor time of the process, as a share of one core. */
  readonly processor: number;
  /** Resident memory of the process, bytes. */
  readonly memory: number;
}

/** Limits that a good trial keeps. */
export interface TrialLimits {
  /** Limit of the lateness p99, ms. */
  readonly maxP99Ms: number;
}

export const MIN_SENT = 0.995;
export const MIN_RECEIVED = 0.99;
/** Share of a core above which a failed trial is explained by the processor. */
const BUSY_PROCESSOR = 0.9;

/** Name of the limit that a trial exceeded. */
export type LimitName = "processor" | "lateness" | "unsent" | "underruns" | "unreturned";

/** The limit that a trial exceeded; undefined for a good one. */
export function exceededLimit(trial: TrialFigures, { maxP99Ms }: TrialLimits): LimitName | undefined {
  const { p99, sent, received, underruns, processor } = trial;
  const limits: readonly (readonly [LimitName, boolean])[] = [
    ["lateness", p99 > maxP99Ms],
    ["unsent", sent <= MIN_SENT],
    ["underruns", underruns > 0],
    ["unreturned", received <= MIN_RECEIVED],
  ];
  const name = limits.find(([, isExceeded]) => isExceeded)?.[0];
  return name !== undefined && processor >= BUSY_PROCESSOR ? "processor" : name;
}

/** A trial, and the limit that it exceeded; undefined for a good one. */
export interface Trial extends TrialFigures {
  readonly limit?: LimitName | undefined;
}

/** Steps from one good count to the next: at least 12 % more, at most 8 times as many. */
const MIN_STEP = 1.12;
const MAX_STEP = 8;
/** Share of a core up to which the processor time of a good trial is extrapolated. */
const AIM = 0.8;
/** The ramp ends if the smallest bad count is at most 5 % above the largest good one. */
const PRECISION = 1.05;
/** A count is bad after two failures: other programs may have used the machine in the first. */
const FAILURES = 2;

/**
 * The count to try next; undefined once the maximum is known.
 * @param first count of the first trial
 * @param maxCount largest count to try. Default: no limit
 */
export function nextCount(
  trials: readonly Trial[],
  first: number,
  maxCount: number = Number.POSITIVE_INFINITY,
): number | undefined {
  const lastTrial = trials.at(-1);
  if (lastTrial === undefined) return first;
  const { count, limit } = lastTrial;
  if (limit !== undefined && failuresAt(trials, count) < FAILURES) return count;
  const best = bestTrial(trials);
  const worstCount = smallestBadCount(trials, best?.count ?? 0);
  if (best === undefined) return count > 1 ? Math.floor(count / 2) : undefined;
  if (worstCount === undefined) {
    if (best.count >= maxCount) return undefined;
    const aim = Math.round((best.count * AIM) / best.processor);
    const minCount = Math.max(best.count + 1, Math.round(best.count * MIN_STEP));
    return Math.min(maxCount, Math.max(minCount, Math.min(best.count * MAX_STEP, aim)));
  }
  const middle = Math.round((best.count + worstCount) / 2);
  return worstCount <= best.count * PRECISION || middle === worstCount ? undefined : middle;
}

/** The good trial with the largest count; undefined if none was good. */
export function bestTrial<T extends Trial>(trials: readonly T[]): T | undefined {
  let best: T | undefined;
  for (const trial of trials) if (trial.limit === undefined && trial.count >= (best?.count ?? 0)) best = trial;
  return best;
}

function failuresAt(trials: readonly Trial[], count: number): number {
  return trials.filter((trial) => trial.count === count && trial.limit !== undefined).length;
}

function smallestBadCount(trials: readonly Trial[], above: number): number | undefined {
  const counts = trials.map(({ count }) => count).filter((count) => failuresAt(trials, count) >= FAILURES);
  const badCounts = counts.filter((count) => count > above);
  return badCounts.length === 0 ? undefined : Math.min(...badCounts);
}

/** The result of a ramp. */
export interface RampResult {
  /** Largest count that kept all limits; undefined if none did. */
  readonly carried: Trial | undefined;
  /** The trial with more that failed; undefined if the time ended first. */
  readonly exceeded: Trial | undefined;
  /** Count whose processor time would be one whole core; undefined if unknown. */
  readonly perCore: number | undefined;
  /** Growth of resident memory per call or stream, bytes; undefined if unknown. */
  readonly memoryEach: number | undefined;
}

/** Minimum growth of the count from which memory per call is computed. */
const MIN_GROWTH = 2;

export function rampResult(trials: readonly Trial[]): RampResult {
  const carried = bestTrial(trials);
  const badTrials = trials.filter(({ count, limit }) => limit !== undefined && count > (carried?.count ?? 0));
  const exceeded = badTrials.sort((a, b) => a.count - b.count)[0];
  const perCore = carried && carried.processor > 0 ? Math.floor(carried.count / carried.processor) : undefined;
  return { carried, exceeded, perCore, memoryEach: memoryEach(trials, carried) };
}

/** Memory of the first trial is shared by all calls: code, and the audio of the message. */
function memoryEach([first]: readonly Trial[], carried: Trial | undefined): number | undefined {
  if (first === undefined || carried === undefined || carried.count < first.count * MIN_GROWTH) return undefined;
  const bytes = (carried.memory - first.memory) / (carried.count - first.count);
  return bytes > 0 ? bytes : undefined;
}
