import type { ReleaseCause } from "../../../../src/ports/telephony.ts";

/** Why a call has ended, in terms of the telephony port. */
export interface Release {
  readonly cause: ReleaseCause;
  /** The raw cause and its fix; null if we hung up. */
  readonly detail: string | null;
  /** The peer has hung up because of a fault. */
  readonly fault?: boolean;
  /** The server is overloaded and accepts no call for this long, ms (RFC 3261 section 20.33). */
  readonly retryAfterMs?: number;
}
