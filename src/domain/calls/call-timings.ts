import type { Timings } from "../timings.ts";
import type { Call } from "./call.ts";

/** The timings of one call: an agent's may be limited to fewer seconds than the server allows. */
export function timingsOf({ message }: Pick<Call, "message">, timings: Timings): Timings {
  if (message.type !== "DYNAMIC_AGENT" || message.maxSeconds === undefined) return timings;
  return { ...timings, maxDurationMs: Math.min(timings.maxDurationMs, message.maxSeconds * 1_000) };
}
