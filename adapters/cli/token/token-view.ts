import type { TokenRecord } from "../../../src/ports/storage.ts";

/** A stored token as shown, without its hash. */
export interface ListedToken {
  readonly id: string;
  readonly user_id: string;
  readonly user: string;
  readonly name: string;
  readonly demo_instance_id: string | null;
  readonly allowed_prefixes: readonly string[] | null;
  readonly max_calls_per_day: number | null;
  readonly scopes: readonly string[] | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}

/** A token as JSON. */
export function tokenView(token: TokenRecord, userName: string): ListedToken {
  return {
    id: token.id,
    user_id: token.userId,
    user: userName,
    name: token.label,
    demo_instance_id: token.demoInstanceId,
    allowed_prefixes: token.allowedPrefixes,
    max_calls_per_day: token.maxCallsPerDay,
    scopes: token.scopes,
    created_at: timestamp(token.createdAt),
    expires_at: optionalTimestamp(token.expiresAt),
    revoked_at: optionalTimestamp(token.revokedAt),
    last_used_at: optionalTimestamp(token.lastUsedAt),
  };
}

/** The current state of a token. */
export function tokenState({ revokedAt, expiresAt }: TokenRecord, now: number): "works" | "revoked" | "expired" {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt <= now ? "expired" : "works";
}

function optionalTimestamp(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
