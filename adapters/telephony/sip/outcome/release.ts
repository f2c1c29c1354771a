import type { DialProgress, ReleaseCause } from "../../../../src/ports/telephony.ts";
import { isReached } from "../../../sip-stack/dialog/alerting.ts";
import type { InviteEnd } from "../../../sip-stack/dialog/invite.ts";

/** Reason for the end of a call, in terms of the telephony port. */
export interface Release {
  readonly cause: ReleaseCause;
  /** The raw cause and its fix; null if we hung up. */
  readonly detail: string | null;
  /** True if the peer has hung up because of a fault. */
  readonly fault?: boolean;
  /** Time for which an overloaded server accepts no calls, ms (RFC 3261 section 20.33). */
  readonly retryAfterMs?: number;
}

/** True if the trunk caused the end of a call, not the callee: a final 5xx, or an unreachable server. */
export function isTrunkFault(end: InviteEnd): boolean {
  if (end.type === "unreachable") return true;
  return end.type === "rejected" && end.response.status >= 500 && end.response.status < 600;
}

/** Progress of an INVITE that was not answered. @param furthestStatus the most advanced provisional response, if any */
export function dialProgress(furthestStatus: number | undefined): DialProgress {
  if (isReached(furthestStatus)) return { reached: true, detail: null };
  const detail =
    furthestStatus === undefined
      ? "the trunk did not respond to the INVITE"
      : "the trunk accepted the call (100 Trying), but reported no ringing";
  return { reached: false, detail };
}
