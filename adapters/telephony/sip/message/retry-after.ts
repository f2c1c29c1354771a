import { parseSeconds } from "./seconds.ts";

/** The value of Retry-After in seconds (RFC 3261 section 20.33); its comment and parameters are of no use to us. */
export function parseRetryAfter(text: string | undefined): number | undefined {
  return parseSeconds(text?.split(/[;(]/, 1)[0]);
}
