import type { DigestChallenge } from "./digest-challenge.ts";

/**
 * The requests that a challenge applies to: those to the trunk's server (REGISTER, OPTIONS), or those of calls. Credentials
 * for the former are not sent in calls: a proxy would forward them to the callee.
 */
export type DigestUse = "server" | "calls";

/** A protection space: a server or a proxy, and its realm (RFC 3261 section 22.1). */
export interface DigestSpace {
  readonly field: "Authorization" | "Proxy-Authorization";
  readonly use: DigestUse;
  /** The latest challenge. */
  readonly challenge: DigestChallenge;
  /** Our cnonce, the same for all requests with this nonce, as a `-sess` algorithm requires. */
  readonly cnonce: string;
  /** Number of requests that were authorized with this nonce. */
  count: number;
}

/** The key of a protection space among those of one use. */
export function spaceKey(field: DigestSpace["field"], realm: string): string {
  return `${field} ${realm}`;
}

/** The use of challenges to a request with this method. */
export function useOf(method: string): DigestUse {
  return method === "REGISTER" || method === "OPTIONS" ? "server" : "calls";
}
