import type { AudioJobs } from "../audio/audio-jobs.ts";
import type { BodyJobs } from "../bodies/parse-job.ts";
import type { SpeechJobs } from "../speech/speech-jobs.ts";
import type { AudioFileJobs } from "../storage/audio-file-job.ts";

/** The jobs that the embedded adapters give to worker threads. */
export type Jobs = SpeechJobs & AudioJobs & BodyJobs & AudioFileJobs;

/** Kinds of jobs on uploads, which may take seconds: they leave one worker to the speech of answered calls. */
export const UPLOAD_KINDS: ReadonlySet<string> = new Set<keyof Jobs>(["decode", "inspect", "parse-body"]);
