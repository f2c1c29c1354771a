import { parentPort, workerData } from "node:worker_threads";
import type { FromWorker, JobCode, JobCodes, JobTable, ToWorker, WorkerStart } from "./job.ts";

/** Runs the jobs of a pool in this worker thread, one at a time. Must be the last call in a worker's entry file. */
export function serveJobs<Jobs extends JobTable<Jobs>>(codes: JobCodes<Jobs>): void {
  const { cancelledId } = workerData as WorkerStart;

  const post = (message: FromWorker, transfer: readonly ArrayBuffer[] = []): void =>
    parentPort?.postMessage(message, transfer);

  async function run({ id, job }: ToWorker): Promise<void> {
    try {
      const code = codes[job.kind as keyof Jobs] as JobCode<Jobs> | undefined;
      if (code === undefined) throw new TypeError(`unknown kind of job: "${job.kind}"`);
      await code(job, {
        emit: (piece, transfer) => post({ type: "piece", id, piece }, transfer),
        isCancelled: () => Atomics.load(cancelledId, 0) === id,
      });
      post({ type: "end", id });
    } catch (error) {
      const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
      post({ type: "failed", id, name, message });
    }
  }

  parentPort?.on("message", (message: ToWorker) => void run(message));
  post({ type: "ready" });
}
