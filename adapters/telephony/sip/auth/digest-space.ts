import type { DigestChallenge } from "./digest-challenge.ts";

/**
 * What a challenge was met with: requests that end at the trunk's server (REGISTER, OPTIONS), or those of calls. The
 * former's answers stay out of calls: a proxy passes an Authorization on that is none of its own, up to the callee.
 */
export type DigestUse = "server" | "calls";

/** Where a password is asked for: a server or a proxy on the way, and its realm (RFC 3261 section 22). */
export interface DigestSpace {
  readonly field: "Authorization" | "Proxy-Authorization";
  readonly use: DigestUse;
  /** The latest challenge. */
  readonly challenge: DigestChallenge;
  /** Our salt, the same for all requests with this nonce: a `-sess` algorithm wants that. */
  readonly cnonce: string;
  /** Requests that were authorized with this nonce. */
  count: number;
}

/** The key of a space among those of one use. */
export function spaceKey(field: DigestSpace["field"], realm: string): string {
  return `${field} ${realm}`;
}

/** What the challenges to a request with this method are for. */
export function useOf(method: string): DigestUse {
  return method === "REGISTER" || method === "OPTIONS" ? "server" : "calls";
}
