import { parentPort, workerData } from "node:worker_threads";
import { decodeJob } from "../audio/decode-job.ts";
import { inspectJob } from "../audio/inspect-job.ts";
import { parseJob } from "../bodies/parse-job.ts";
import { enginesJob } from "../speech/engines-job.ts";
import { espeakJob } from "../speech/espeak-job.ts";
import { fliteJob } from "../speech/flite-job.ts";
import { audioFileJob } from "../storage/audio-file-job.ts";
import type { FromWorker, JobCode, JobKind, ToWorker, WorkerStart } from "./job.ts";

// The entry of a worker thread (see workerEntry in pool.ts): takes one job at a time and posts what it gives.

const CODE: { readonly [K in JobKind]: JobCode<K> } = {
  engines: enginesJob,
  flite: fliteJob,
  espeak: espeakJob,
  inspect: inspectJob,
  decode: decodeJob,
  "parse-body": parseJob,
  "audio-file": audioFileJob,
};

const { cancelled } = workerData as WorkerStart;

function post(message: FromWorker, transfer: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}

async function run({ id, job }: ToWorker): Promise<void> {
  try {
    const code = CODE[job.kind as JobKind] as JobCode<JobKind> | undefined;
    if (code === undefined) throw new TypeError(`There is no job of the kind "${job.kind}".`);
    await code(job as never, {
      emit: (piece, transfer) => post({ type: "piece", id, piece }, transfer),
      cancelled: () => Atomics.load(cancelled, 0) === id,
    });
    post({ type: "end", id });
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
    post({ type: "failed", id, name, message });
  }
}

parentPort?.on("message", (message: ToWorker) => void run(message));
post({ type: "ready" });
