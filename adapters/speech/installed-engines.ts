import type { InstalledEngines, SpeechWorkers } from "./speech-jobs.ts";

/** Asks a worker once which engines are installed; after a failure (a busy machine, say) the next call asks again. */
export function installedEngines(workers: SpeechWorkers): () => Promise<InstalledEngines> {
  let answer: Promise<InstalledEngines> | undefined;
  const ask = async (): Promise<InstalledEngines> => {
    for await (const installed of workers.run({ kind: "engines" }, { timeoutMs: 30_000 })) return installed;
    throw new Error("The worker did not say which speech engines are installed.");
  };
  return () => {
    answer ??= ask().catch((error: unknown) => {
      answer = undefined;
      throw error;
    });
    return answer;
  };
}
