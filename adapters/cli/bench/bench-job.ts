import { type ChildProcess, fork } from "node:child_process";
import process from "node:process";
import { CodedError } from "../../../src/base/error.ts";
import type { CallCodec } from "./calls-load.ts";
import type { Trial } from "./ramp.ts";

/** First argument of the processes in which `ringport bench` measures. */
export const BENCH_JOB = "__bench";

/** Calls with one codec. */
export interface CallsJob {
  readonly kind: "calls";
  readonly codec: CallCodec;
  readonly srtp: boolean;
}

/** A job whose process yields trials. */
export type MeasuredJob = CallsJob;

/** Limit of the lateness p99, ms, as in `npm run bench`. */
export function maxP99Of(_job: MeasuredJob): number {
  return 5;
}

/** A job, and the time at which it should end, ms since 1970. */
export type TimedJob = MeasuredJob & { readonly until: number };

/** Work of one process: trials, or the remote end of calls. */
export type BenchJob = TimedJob | { readonly kind: "echo" };

/** Message of such a process to the one that started it. */
export type BenchMessage =
  | { readonly type: "ready"; readonly ports: readonly number[] }
  | { readonly type: "trial"; readonly trial: Trial }
  | { readonly type: "finished" }
  | { readonly type: "failed"; readonly reason: string };

/** Thrown if a job cannot be measured; the message is its reason. */
export class MeasurementFailed extends CodedError {
  override readonly name = "MeasurementFailed";
  readonly code = "measurement_failed";
}

/** A process of `ringport bench`. It ends with the one that started it. */
export class BenchProcess {
  readonly #child: ChildProcess;
  readonly #exit: Promise<void>;

  /**
   * Starts a process of this program and runtime.
   * @param onMessage also called once with `failed` if the process ends too early
   */
  constructor(job: BenchJob, onMessage: (message: BenchMessage) => void) {
    let isFinished = false;
    const report = (message: BenchMessage): void => {
      if (isFinished) return;
      isFinished = message.type === "finished" || message.type === "failed";
      onMessage(message);
    };
    this.#child = fork(process.argv[1] ?? "", [BENCH_JOB, JSON.stringify(job)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child.on("message", report);
    this.#exit = new Promise((resolve) => {
      this.#child.once("exit", (code, signal) => {
        report({ type: "failed", reason: `its process ended (${signal ?? code})` });
        resolve();
      });
      this.#child.once("error", ({ message }) => {
        report({ type: "failed", reason: `its process could not be started: ${message}` });
        if (this.#child.pid === undefined) resolve();
      });
    });
  }

  /** Ends the process; resolves when it has ended. Idempotent. */
  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exit;
  }
}

/** Runs a measured job in a process; resolves when it has finished, or with `signal`. @throws {MeasurementFailed} its process reported a fault, or ended */
export async function measure(job: TimedJob, onTrial: (trial: Trial) => void, signal: AbortSignal): Promise<void> {
  let jobProcess: BenchProcess | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      jobProcess = new BenchProcess(job, (message) => {
        if (message.type === "trial") onTrial(message.trial);
        else if (message.type === "finished") resolve();
        else if (message.type === "failed") reject(new MeasurementFailed(message.reason));
      });
    });
  } finally {
    await jobProcess?.stop();
  }
}
