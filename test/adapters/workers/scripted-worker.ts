import { parentPort, threadId, workerData } from "node:worker_threads";
import type { FromWorker, WorkerStart } from "../../../adapters/workers/job.ts";

// A worker whose jobs count, sleep, fail, crash, hang, or check for their cancellation, as the test requires.

interface ScriptedJob {
  readonly kind: string;
  readonly script: "count" | "sleep" | "fail" | "crash" | "exit" | "hang" | "obedient" | "length";
  readonly amount: number;
  readonly bytes?: Uint8Array;
}

const { cancelledId } = workerData as WorkerStart;
const post = (message: FromWorker): void => parentPort?.postMessage(message);

function blockFor(ms: number, stop: () => boolean = () => false): void {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline && !stop()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
}

parentPort?.on("message", ({ id, job }: { id: number; job: ScriptedJob }) => {
  const piece = (value: unknown): void => post({ type: "piece", id, piece: value });
  const { script, amount } = job;
  if (script === "count") for (let i = 0; i < amount; i++) piece(i);
  if (script === "sleep") blockFor(amount);
  if (script === "hang") blockFor(60_000);
  if (script === "obedient") blockFor(60_000, () => Atomics.load(cancelledId, 0) === id);
  if (script === "exit") process.exit(3);
  if (script === "crash") {
    setTimeout(() => {
      throw new Error("the script throws this");
    });
    return;
  }
  if (script === "length") piece(job.bytes?.length);
  if (script === "fail") {
    post({ type: "failed", id, name: "RangeError", message: "out of range" });
    return;
  }
  piece(`thread ${threadId}`);
  post({ type: "end", id });
});
post({ type: "ready" });
