import type { Principal } from "../domain/principal.ts";

/**
 * Tells who shows a bearer token; undefined for a token that is unknown, expired or revoked.
 * It is asked on every request, so it should cost one indexed look-up, and it compares secrets in constant time.
 * It throws only when it cannot tell (its store is down): that answers 503, never 401.
 */
export type Authenticate = (token: string) => Promise<Principal | undefined>;
