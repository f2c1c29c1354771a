import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import type { LatenessFigures } from "../../../src/audio/playout/lateness.ts";
import { exceededLimit, nextCount, type Trial, type TrialCounts, type TrialLimits } from "./ramp.ts";

/** Many concurrent audio flows: calls, streams, or bare datagrams. */
export interface AudioLoad {
  /** Lateness of frames, since `begin`. */
  readonly lateness: LatenessFigures;
  /** Adds or ends flows until there are this many. */
  resize(count: number): Promise<void>;
  /** Starts counting. */
  begin(): void | Promise<void>;
  /** Counters since `begin`. */
  counts(): TrialCounts | Promise<TrialCounts>;
  close(): Promise<void>;
}

/** Lengths of a trial. */
export interface TrialTimes {
  /** Wait after a change of the number of flows. */
  readonly settleMs: number;
  readonly windowMs: number;
}

/** Frames of one flow in a second. */
const FRAMES_PER_SECOND = 50;

/** Runs a number of flows in this process, and measures them. */
export async function runTrial(load: AudioLoad, count: number, options: TrialTimes & TrialLimits): Promise<Trial> {
  await load.resize(count);
  await pause(options.settleMs);
  await load.begin();
  const [startedAt, processorAtStart] = [performance.now(), process.cpuUsage()];
  await pause(options.windowMs);
  const { user, system } = process.cpuUsage(processorAtStart);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { p99, max } = load.lateness;
  const { sent, received, underruns } = await load.counts();
  // At both ends of the window a flow may be just before or after its frame.
  const due = count * Math.max(1, Math.floor(seconds * FRAMES_PER_SECOND) - 1);
  const figures = {
    count,
    p99,
    max,
    sent: Math.min(1, sent / due),
    received: Math.min(1, received / due),
    underruns,
    processor: (user + system) / 1e6 / seconds,
    memory: process.memoryUsage().rss,
  };
  return { ...figures, limit: exceededLimit(figures, options) };
}

/** Options of a ramp. */
export interface RampOptions extends TrialTimes, TrialLimits {
  /** Number of flows in the first trial. */
  readonly first: number;
  /** Number of flows that is never exceeded. Default: no limit. */
  readonly maxCount?: number;
  /** Time until which a trial may begin, on the clock of `performance`. Default: no limit. */
  readonly until?: number;
}

/** Runs trials until the maximum number of flows is known, or the time has ended; yields each. */
export async function* ramp(load: AudioLoad, options: RampOptions): AsyncGenerator<Trial> {
  const { until = Number.POSITIVE_INFINITY, settleMs, windowMs } = options;
  const trials: Trial[] = [];
  for (;;) {
    const count = nextCount(trials, options.first, options.maxCount);
    const hasTime = performance.now() + settleMs + windowMs <= until;
    if (count === undefined || (trials.length > 0 && !hasTime)) return;
    const trial = await runTrial(load, count, options);
    trials.push(trial);
    yield trial;
  }
}
