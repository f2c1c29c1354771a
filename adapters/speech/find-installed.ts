import { InternalError } from "../../src/base/error.ts";
import type { InstalledEngines, SpeechWorkers } from "./speech-jobs.ts";

/** Finds out once, in a worker, which engines are installed. After a failure (on a busy machine) the next call tries again. */
export function findInstalled(workers: SpeechWorkers): () => Promise<InstalledEngines> {
  let found: Promise<InstalledEngines> | undefined;
  const find = async (): Promise<InstalledEngines> => {
    for await (const installed of workers.run({ kind: "installed" }, { timeoutMs: 30_000 })) return installed;
    throw new InternalError("the worker did not report which speech engines are installed");
  };
  return () => {
    found ??= find().catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}
