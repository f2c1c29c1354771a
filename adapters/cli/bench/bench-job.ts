import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

/** Live streams, on the simulated network. */
export interface StreamsJob {
  readonly kind: "streams";
}

/** A job whose process yields trials. */
export type MeasuredJob = CallsJob | StreamsJob;

/** A job with the time at which it should end, ms since 1970. */
export type TimedJob<Job extends MeasuredJob = MeasuredJob> = Job & {
  readonly until: number;
  /** An empty folder for its files. */
  readonly folder: string;
};

/** Work of one process: trials, or the remote end of calls or streams. */
export type BenchJob = TimedJob | { readonly kind: "echo" | "stream-clients" };

/** Message of such a process to the one that started it. */
export type BenchMessage =
  | { readonly type: "ready"; readonly ports: readonly number[] }
  | { readonly type: "counts"; readonly sent: number; readonly received: number }
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

  /** Sends a request to the process. */
  send(request: object): void {
    this.#child.send(request);
  }

  /** Ends the process; resolves when it has ended. Idempotent. */
  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exit;
  }
}

/** Runs a measured job in a process; resolves when it has finished, or with `signal`. @throws {MeasurementFailed} its process reported a fault, or ended */
export async function measure(
  job: MeasuredJob & { readonly until: number },
  onTrial: (trial: Trial) => void,
  signal: AbortSignal,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  let jobProcess: BenchProcess | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      jobProcess = new BenchProcess({ ...job, folder }, (message) => {
        if (message.type === "trial") onTrial(message.trial);
        else if (message.type === "finished") resolve();
        else if (message.type === "failed") reject(new MeasurementFailed(message.reason));
      });
    });
  } finally {
    await jobProcess?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
