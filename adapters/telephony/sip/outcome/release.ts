import type { ReleaseCause } from "../../../../src/ports/telephony.ts";

/** Why a call is over, in the words of the telephony port. */
export interface Release {
  readonly cause: ReleaseCause;
  /** The raw cause, and what can be done about it; null where we hung up ourselves. */
  readonly detail: string | null;
  /** The server is overloaded and wants no other call for so long, ms (RFC 3261 section 20.33). */
  readonly retryAfterMs?: number;
}
