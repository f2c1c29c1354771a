import { errorText } from "../../../src/base/error.ts";
import { VERSION } from "../../../src/version.ts";
import { DENO_OBSTACLE, mayStartProcesses } from "../../local-models/engine-package.ts";
import type { CommandSpec, ParsedLine } from "../command.ts";
import { findRuntime } from "../doctor/machine-findings.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../serve/signals.ts";
import { wholeNumber } from "../settings/parsers.ts";
import { printFacts } from "../terminal/facts.ts";
import { LiveLine } from "../terminal/live-line.ts";
import { partBar } from "../terminal/progress-bar.ts";
import { printRows } from "../terminal/table.ts";
import { isTerminal, print, printJson, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { type MeasuredJob, measure } from "./bench-job.ts";
import { CAPACITY_COLUMNS, capacityCells, capacityRow, type Measurement, progressText } from "./capacity-table.ts";
import { jobLimits } from "./job-limits.ts";
import { machine, otherLoad } from "./machine.ts";
import type { Trial } from "./ramp.ts";

const SECONDS_PARSER = wholeNumber(5, 600);
const DEFAULT_SECONDS = 110;
/** Minimum time in which a job is worth beginning, ms. */
const MIN_JOB_MS = 500;

/** The jobs, and the shares of the time that they get. */
const JOBS: readonly (readonly [MeasuredJob, weight: number])[] = [
  ...(["PCMU", "G722", "opus"] as const).flatMap((codec) =>
    [false, true].map((srtp) => [{ kind: "calls", codec, srtp }, 1] as const),
  ),
  [{ kind: "streams" }, 2],
];

/** `ringport bench`: measures the capacity of this machine. */
export const bench: CommandSpec = {
  summary: "Measures how many calls and streams this machine can carry, in two minutes.",
  details: [
    "Needs no server and no database, and calls no one: the remote end of each call is another process on this machine. Close other programs first.",
    "AT ONCE is the largest number that one thread carried within the limits: 99 of 100 packets at most 5 ms late, all of them sent, 99 of 100 returned, no gap in the message. " +
      "A stream is a call on the simulated network with a client over a WebSocket: at most 10 ms late. LIMITED BY is the limit that a larger number exceeded. PER CORE is the number whose processor time is one whole core; the remote end is not included. MEMORY EACH is the growth of resident memory. " +
      "Agents are not measured: they depend on their provider. What could not be measured is unknown.",
    "Ctrl-C stops, and prints what has been measured.",
  ].join("\n"),
  options: [
    {
      name: "seconds",
      placeholder: "NUMBER",
      help: `Length of the measurement, ${SECONDS_PARSER.expected}; a short one is less exact. Default: ${DEFAULT_SECONDS}.`,
    },
    jsonOption("`machine`, `seconds`, `complete` and `rows`, with null for what is unknown"),
  ],
  settings: [],
  async run(line) {
    const seconds = benchSeconds(line);
    if (!mayStartProcesses()) throw new UsageError(`bench ${DENO_OBSTACLE.reason}: ${DENO_OBSTACLE.fix}`);
    const json = line.values.get("json") === true;
    const interrupted = interruption();
    const runtime = findRuntime().detail;
    const facts = { ...machine(), "Other programs": await otherLoad(), Runtime: runtime, Ringport: VERSION };
    if (!json) printFacts(Object.entries(facts));
    const measurements = await measureAll(seconds * 1_000, json, interrupted.signal);
    const complete = measurements.every(({ trials, obstacle }) => trials.length > 0 && obstacle === undefined);
    if (json) printJson({ machine: facts, seconds, complete, rows: measurements.map(capacityRow) });
    else {
      print();
      printRows(CAPACITY_COLUMNS, measurements.map(capacityCells));
    }
    return interrupted.signal.aborted ? interrupted.exitCode() : EXIT.done;
  },
};

/** @throws {UsageError} the number is invalid */
export function benchSeconds({ values }: ParsedLine): number {
  const text = values.get("seconds") as string | undefined;
  const seconds = text === undefined ? DEFAULT_SECONDS : SECONDS_PARSER.parse(text);
  if (seconds === undefined) throw new UsageError(`--seconds is "${text}": it must be ${SECONDS_PARSER.expected}`);
  return seconds;
}

/** Measures one job after the other; each gets its share of the time that is left. */
async function measureAll(totalMs: number, json: boolean, signal: AbortSignal): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  const startedAt = performance.now();
  for (const [index, [job, weight]] of JOBS.entries()) {
    const trials: Trial[] = [];
    const progress = (elapsedMs: number) => progressText(elapsedMs, totalMs, job, trials.at(-1));
    const showsBar = isTerminal() && !json;
    if (!showsBar && !signal.aborted) printToStderr(progress(performance.now() - startedAt));
    const bar = showsBar
      ? new LiveLine(
          (ms) => `${partBar(Math.min(ms, totalMs), totalMs)} ${progress(ms)}`,
          performance.now() - startedAt,
        )
      : undefined;
    const leftWeight = JOBS.slice(index).reduce((sum, [, each]) => sum + each, 0);
    const ms = ((totalMs - (performance.now() - startedAt)) * weight) / leftWeight;
    const obstacle = await obstacleTo(job, { ms, signal, onTrial: (trial) => void trials.push(trial) });
    bar?.stop();
    measurements.push({ job, limits: jobLimits(job), trials, obstacle });
  }
  return measurements;
}

interface JobRun {
  readonly ms: number;
  readonly signal: AbortSignal;
  readonly onTrial: (trial: Trial) => void;
}

/** Runs a job; returns the reason if it could not be finished. */
async function obstacleTo(job: MeasuredJob, { ms, signal, onTrial }: JobRun): Promise<string | undefined> {
  if (signal.aborted) return INTERRUPTED;
  if (ms < MIN_JOB_MS) return "no time was left: use more --seconds";
  try {
    await measure({ ...job, until: Date.now() + ms }, onTrial, signal);
    return signal.aborted ? INTERRUPTED : undefined;
  } catch (error) {
    return errorText(error);
  }
}

const INTERRUPTED = "interrupted";
