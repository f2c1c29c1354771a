import { parentPort } from "node:worker_threads";
import type { ToMediaWorker } from "../../../../adapters/sip-stack/media/worker/shared-call.ts";

// A media worker whose frames are late by 40 ms from the key A to the key B.

let timer: NodeJS.Timeout | undefined;

/** Blocks this thread. */
function stall(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

parentPort?.on("message", (message: ToMediaWorker) => {
  if (message.type !== "keys") return;
  clearInterval(timer);
  if (message.digits === "A") timer = setInterval(() => stall(80), 1);
});
await import("../../../../adapters/sip-stack/media/worker/sip-media-worker.ts");
