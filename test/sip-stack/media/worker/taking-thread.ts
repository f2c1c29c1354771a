import { parentPort, workerData } from "node:worker_threads";
import { SampleRing } from "../../../../adapters/sip-stack/media/worker/sample-ring.ts";

// Takes and counts samples as fast as it can, until stopped.
const { memory, result } = workerData as { memory: SharedArrayBuffer; result: SharedArrayBuffer };
const ring = new SampleRing(memory);
const counts = new Int32Array(result);
const frame = new Int16Array(160);
while (Atomics.load(counts, 1) === 0) {
  const count = ring.take(frame);
  Atomics.add(counts, 0, count);
}
parentPort?.postMessage("done");
