import type { Principal } from "../domain/principal.ts";

/**
 * Tells who shows a bearer token; undefined for a token that is unknown, expired or revoked.
 * It is asked on every request, so it should cost one indexed look-up, and it compares secrets in constant time.
 * It throws only when it cannot tell (its store is down): that answers 503, never 401.
 */
export interface Authenticate {
  (token: string): Promise<Principal | undefined>;
  /**
   * The same for several tokens, in their order, at the cost of one look-up. While clients are connected to streams,
   * their tokens are asked about twice a second; without this, one by one.
   */
  all?(tokens: readonly string[]): Promise<readonly (Principal | undefined)[]>;
}
