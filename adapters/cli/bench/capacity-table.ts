import { secondsText } from "../terminal/progress-bar.ts";
import type { ListColumn } from "../terminal/table.ts";
import type { MeasuredJob } from "./bench-job.ts";
import type { JobLimits } from "./job-limits.ts";
import { type LimitName, MIN_RECEIVED, MIN_SENT, rampResult, type Trial } from "./ramp.ts";

/** A job and its trials so far. */
export interface Measurement {
  readonly job: MeasuredJob;
  readonly limits: JobLimits;
  readonly trials: readonly Trial[];
  /** The reason why the job was not finished, or not begun. */
  readonly obstacle?: string | undefined;
}

/** A measurement as `--json` prints it; null for what could not be measured. */
export interface CapacityRow {
  readonly kind: MeasuredJob["kind"];
  readonly codec: string | null;
  readonly encryption: "none" | "srtp" | null;
  /** Largest number at once that kept all limits. */
  readonly at_once: number | null;
  /** The limit that a larger number exceeded, or the reason why it is unknown. */
  readonly limit: string;
  /** Number whose processor time is one whole core. */
  readonly per_core: number | null;
  /** Growth of resident memory for each, bytes. */
  readonly memory_bytes: number | null;
  /** 99 of 100 frames were at most this late, ms; with the number at once. */
  readonly lateness_p99_ms: number | null;
  /** Share of one core; with the number at once. */
  readonly processor: number | null;
}

export function capacityRow({ job, trials, obstacle, limits }: Measurement): CapacityRow {
  const { carried, exceeded, perCore, memoryEach } = rampResult(trials);
  return {
    kind: job.kind,
    codec: job.kind === "calls" ? CODEC_LABELS[job.codec] : null,
    encryption: job.kind === "streams" ? null : job.srtp ? "srtp" : "none",
    at_once: carried?.count ?? null,
    limit: exceeded ? limitText(exceeded, limits) : (obstacle ?? unexceededText(carried, limits)),
    per_core: perCore ?? null,
    memory_bytes: memoryEach === undefined ? null : Math.round(memoryEach),
    lateness_p99_ms: carried ? rounded(carried.p99) : null,
    processor: carried ? rounded(carried.processor, 3) : null,
  };
}

const CODEC_LABELS = { PCMU: "G.711", G722: "G.722", opus: "Opus" } as const;

/** Name of a job, such as `calls, G.711, SRTP`. */
function jobLabel(job: MeasuredJob): string {
  if (job.kind === "streams") return "live streams";
  return `calls, ${CODEC_LABELS[job.codec]}${job.srtp ? ", SRTP" : ""}`;
}

export const CAPACITY_COLUMNS: readonly ListColumn[] = [
  { head: "WHAT" },
  { head: "AT ONCE" },
  { head: "PER CORE" },
  { head: "MEMORY EACH" },
  { head: "LIMITED BY", cut: true },
];

/** The cells of a measurement. */
export function capacityCells(measurement: Measurement): readonly string[] {
  const { at_once, per_core, memory_bytes, limit } = capacityRow(measurement);
  const memory = memory_bytes === null ? UNKNOWN : `${Math.round(memory_bytes / 1_024)} KiB`;
  return [jobLabel(measurement.job), countText(at_once), countText(per_core), memory, limit];
}

const UNKNOWN = "unknown";

function countText(count: number | null): string {
  return count === null ? UNKNOWN : String(count);
}

function unexceededText(carried: Trial | undefined, { maxCount }: JobLimits): string {
  return carried?.count === maxCount ? `a server on this runtime accepts ${maxCount}` : "none reached in this time";
}

function limitText(trial: Trial, { maxP99Ms }: JobLimits): string {
  const texts: Readonly<Record<LimitName, string>> = {
    processor: `${percentText(trial.processor, 0)} of a core`,
    lateness: `lateness p99 ${trial.p99.toFixed(1)} ms, limit ${maxP99Ms} ms,`,
    unsent: `${percentText(trial.sent)} of frames sent, limit ${percentText(MIN_SENT)},`,
    underruns: `${trial.underruns} frames without audio`,
    unreturned: `${percentText(trial.received)} of frames returned, limit ${percentText(MIN_RECEIVED)},`,
  };
  return `${texts[trial.limit ?? "lateness"]} with ${trial.count}`;
}

function percentText(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)} %`;
}

function rounded(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}

/** Text of the progress: `12.0 s of 110.0 s, calls, G.711: 441`. */
export function progressText(elapsedMs: number, totalMs: number, job: MeasuredJob, trial: Trial | undefined): string {
  const count = trial === undefined ? "" : `: ${trial.count}`;
  return `${secondsText(Math.min(elapsedMs, totalMs))} of ${secondsText(totalMs)}, ${jobLabel(job)}${count}`;
}
