import { parentPort } from "node:worker_threads";
import type { ToMediaWorker } from "../../../../adapters/sip-stack/media/worker/shared-call.ts";

// A media worker that gets stuck when it is asked to send the key D.

parentPort?.on("message", (message: ToMediaWorker) => {
  if (message.type === "keys" && message.digits === "D") for (;;);
});
await import("../../../../adapters/sip-stack/media/worker/sip-media-worker.ts");
