import process from "node:process";
import { errorText } from "../../../src/base/error.ts";
import { createCodec } from "../../sip-stack/media/codecs/create-codec.ts";
import {
  type BenchJob,
  type BenchMessage,
  BenchProcess,
  type CallsJob,
  MeasurementFailed,
  type StreamsJob,
  type TimedJob,
} from "./bench-job.ts";
import { type CallCodec, CallsLoad } from "./calls-load.ts";
import { startEcho } from "./echo.ts";
import { jobLimits } from "./job-limits.ts";
import { runStreamClients, startStreamClients } from "./stream-clients.ts";
import { type AudioLoad, type RampOptions, ramp } from "./trial.ts";

/** Sockets of the echo. */
const ECHO_SOCKETS = 32;
/** Number of calls or streams in the first trial. */
const FIRST_COUNT = 20;
/** Trials for which the time of a job lasts. */
const TRIALS = 8;
/** Bounds of the length of a trial, and the share of it in which new calls settle. */
const MIN_TRIAL_MS = 300;
const MAX_TRIAL_MS = 3_000;
const SETTLING = 0.3;

/** Runs the job of this process, which lasts until its parent closes the channel. */
export async function runJob(json: string): Promise<never> {
  process.on("disconnect", () => process.exit(0));
  process.on("message", () => {}); // keeps the channel open
  process.on("SIGINT", () => {}); // Ctrl-C in a terminal is for the parent, which ends this process
  try {
    await run(JSON.parse(json));
    send({ type: "finished" });
  } catch (error) {
    send({ type: "failed", reason: errorText(error) });
  }
  return await new Promise<never>(() => {});
}

async function run(job: BenchJob): Promise<void> {
  if (job.kind === "calls") await measureCalls(job);
  else if (job.kind === "streams") await measureStreams(job);
  else if (job.kind === "echo") {
    const { ports } = await startEcho(ECHO_SOCKETS);
    send({ type: "ready", ports });
    await new Promise(() => {});
  } else await new Promise((_, reject) => runStreamClients(send, reject));
}

async function measureCalls(job: TimedJob<CallsJob>): Promise<void> {
  const { codec, srtp, until } = job;
  await checkCodec(codec);
  const load = new CallsLoad({ codec, srtp, ports: await echoPorts() });
  await runRamp(load, { ...timesUntil(until), first: FIRST_COUNT, ...jobLimits(job) });
}

async function measureStreams(job: TimedJob<StreamsJob>): Promise<void> {
  const { startStreamLoad } = await import("./stream-load.ts");
  const load = await startStreamLoad(job.folder, startStreamClients());
  await runRamp(load, { ...timesUntil(job.until), first: FIRST_COUNT, ...jobLimits(job) });
}

/** @throws {MeasurementFailed} the codec's library is not installed */
async function checkCodec(codec: CallCodec): Promise<void> {
  try {
    (await createCodec(codec)).close();
  } catch (error) {
    throw new MeasurementFailed(`the codec cannot be used here: ${errorText(error)}`);
  }
}

/** Starts the remote end of the calls in a separate process, which ends with this one. */
function echoPorts(): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    new BenchProcess({ kind: "echo" }, (message) => {
      if (message.type === "ready") resolve(message.ports);
      else if (message.type === "failed") reject(new MeasurementFailed(`the remote end: ${message.reason}`));
    });
  });
}

async function runRamp(load: AudioLoad, options: RampOptions): Promise<void> {
  for await (const trial of ramp(load, options)) send({ type: "trial", trial });
}

/** Times of trials that end at a time, in ms since 1970. */
function timesUntil(end: number): Pick<RampOptions, "settleMs" | "windowMs" | "until"> {
  const leftMs = end - Date.now();
  const trialMs = Math.min(MAX_TRIAL_MS, Math.max(MIN_TRIAL_MS, leftMs / TRIALS));
  return { settleMs: trialMs * SETTLING, windowMs: trialMs * (1 - SETTLING), until: performance.now() + leftMs };
}

function send(message: BenchMessage): void {
  process.send?.(message);
}
