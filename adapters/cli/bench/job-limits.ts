import { MAX_BUFFERING_SOCKETS, MAX_SOCKETS } from "../../../src/http/sockets/socket-budget.ts";
import type { MeasuredJob } from "./bench-job.ts";
import type { TrialLimits } from "./ramp.ts";

/** Limits of a job's trials. */
export interface JobLimits extends TrialLimits {
  /** Number that a server accepts. */
  readonly maxCount: number;
}

/** The same lateness as in `npm run bench`. */
const CALL_LIMITS: JobLimits = { maxP99Ms: 5, maxCount: Number.POSITIVE_INFINITY };
const STREAM_LIMITS: JobLimits = {
  maxP99Ms: 10,
  maxCount: ("Deno" in globalThis ? MAX_BUFFERING_SOCKETS : MAX_SOCKETS).server,
};

export function jobLimits({ kind }: MeasuredJob): JobLimits {
  return kind === "streams" ? STREAM_LIMITS : CALL_LIMITS;
}
