import type { RequestContext } from "./request-context.ts";

/** Longest wait that a request gets, s. */
export const LONGEST_WAIT_S = 60;

/** `Prefer: wait=N` (RFC 7240 §4.3): the longest wait in seconds, at most {@link LONGEST_WAIT_S}; 0 without one. */
export function preferredWait(context: RequestContext): number {
  const header = context.header("prefer");
  // The first of several counts (RFC 7240 §2).
  const [, seconds] = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(header ?? "") ?? [];
  return Math.min(Number(seconds ?? 0), LONGEST_WAIT_S);
}

/** The header that confirms a wait. */
export function waitApplied(seconds: number): Record<string, string> {
  return seconds > 0 ? { "preference-applied": `wait=${seconds}` } : {};
}
