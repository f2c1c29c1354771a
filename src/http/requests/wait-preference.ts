import type { WaitLimit } from "../../application/use-cases.ts";
import type { PerUser } from "../../application/user-limits/per-user.ts";
import type { Reply } from "../../ports/web.ts";
import type { RequestContext } from "./request-context.ts";

/** Maximum wait of a request, s. */
const MAX_WAIT_S = 60;

/** `Prefer: wait=N` (RFC 7240 §4.3): the longest wait in seconds, at most {@link MAX_WAIT_S}; 0 without one. */
function preferredWait(context: RequestContext): number {
  const header = context.header("prefer");
  // If there are several, the first applies (RFC 7240 §2).
  const [, seconds] = /(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(header ?? "") ?? [];
  return Math.min(Number(seconds ?? 0), MAX_WAIT_S);
}

/** A wait that a request prefers. It ends with the client's connection. */
export interface PreferredWait extends WaitLimit {
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * The response to a request that may prefer to wait. It does not wait without the preference, or if all of the user's
 * slots are taken. A slot is freed when the wait or the client's connection ends.
 * @param waits bounds each user's waiting requests
 */
export async function withPreferredWait(
  context: RequestContext,
  waits: PerUser,
  reply: (wait: PreferredWait | undefined) => Promise<Reply>,
): Promise<Reply> {
  const seconds = preferredWait(context);
  const releaseSlot = seconds > 0 ? waits.take(context.caller.userId) : undefined;
  if (!releaseSlot) return reply(undefined);
  try {
    const result = await reply({ waitMs: seconds * 1000, signal: context.signal });
    return { ...result, headers: { ...result.headers, "preference-applied": `wait=${seconds}` } };
  } finally {
    releaseSlot();
  }
}
