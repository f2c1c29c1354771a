import type { DigestChallenge } from "./digest-challenge.ts";

/** Where a password is asked for: a server or a proxy on the way, and its realm (RFC 3261 section 22). */
export interface DigestSpace {
  readonly field: "Authorization" | "Proxy-Authorization";
  /** The latest challenge. */
  readonly challenge: DigestChallenge;
  /** Our salt, the same for all requests with this nonce: a `-sess` algorithm wants that. */
  readonly cnonce: string;
  /** Requests that were authorized with this nonce. */
  count: number;
}

/** Tells spaces apart. */
export function spaceKey(field: DigestSpace["field"], realm: string): string {
  return `${field} ${realm}`;
}
