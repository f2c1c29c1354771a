import { decodeJob } from "../audio/decode-job.ts";
import { inspectJob } from "../audio/inspect-job.ts";
import { parseJob } from "../body-parsing/parse-job.ts";
import { espeakJob } from "../speech/espeak-job.ts";
import { fliteJob } from "../speech/flite-job.ts";
import { installedJob } from "../speech/installed-job.ts";
import { audioFileJob } from "../storage/sqlite/audio-files.ts";
import { checkpointJob } from "../storage/sqlite/wal-checkpoints.ts";
import { serveJobs } from "../workers/serve-jobs.ts";
import type { Jobs } from "./worker-pool.ts";

// The entry of a worker thread (see workerEntry in worker-pool.ts).

serveJobs<Jobs>({
  installed: installedJob,
  flite: fliteJob,
  espeak: espeakJob,
  inspect: inspectJob,
  decode: decodeJob,
  "parse-body": parseJob,
  "audio-file": audioFileJob,
  checkpoint: checkpointJob,
});
