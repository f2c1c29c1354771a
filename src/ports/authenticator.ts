import type { Principal } from "../domain/access/principal.ts";

/**
 * Returns the principal of a bearer token; undefined for a token that is unknown, expired or revoked. It is called for
 * every request, so it should cost one indexed look-up, and it must compare secrets in constant time. It throws only if
 * it cannot decide, because its store is unavailable: the response is then 503, never 401.
 */
export interface Authenticate {
  (token: string): Promise<Principal | undefined>;
  /**
   * Returns the principals of several tokens, in their order, with one look-up. While clients are connected to streams,
   * their tokens are checked twice a second; without this method, one by one.
   */
  all?(tokens: readonly string[]): Promise<readonly (Principal | undefined)[]>;
}
