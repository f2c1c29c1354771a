import type { Principal } from "../domain/access/principal.ts";

/** Number of requests one token may make. */
export interface RateLimit {
  /** Requests per window, and the largest burst. */
  readonly limit: number;
  /** Length of the window, ms. */
  readonly windowMs: number;
}

/** The requests with the demo tokens of one instance, together. */
const DEMO: RateLimit = { limit: 100, windowMs: 10_000 };

/** The decision about one request. */
export interface RateDecision {
  readonly allowed: boolean;
  /** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
  readonly headers: Record<string, string>;
  /** Requests that are allowed at once after this one, with a fraction. */
  readonly left: number;
  /** Seconds until the next request is allowed; at least 1. */
  readonly retryAfter: number;
}

/**
 * Limits the requests of each token, or of each user without one. The demo tokens of an instance have a second limit, which
 * they share; the decision is that of the stricter limit.
 * @param limit undefined: other tokens have none
 * @param now a clock that never jumps, ms
 */
export function callerLimiter(
  limit: RateLimit | undefined,
  now: () => number,
): (caller: Pick<Principal, "tokenId" | "userId" | "demoInstanceId">) => RateDecision | undefined {
  const ofToken = limit && rateLimiter(limit, now);
  const ofDemo = rateLimiter(DEMO, now);
  return ({ tokenId, userId, demoInstanceId }) => {
    const single = ofToken?.(tokenId ?? userId);
    if (demoInstanceId === undefined || single?.allowed === false) return single;
    const shared = ofDemo(demoInstanceId);
    return single && shared.allowed && single.left < shared.left ? single : shared;
  };
}

/** Maximum number of buckets. Beyond it, the least recently used bucket is dropped, so its key starts with a full bucket again. */
const MAX_BUCKETS = 10_000;

/**
 * A token bucket for each key.
 * @param now a clock that never jumps, ms
 */
export function rateLimiter({ limit, windowMs }: RateLimit, now: () => number): (key: string) => RateDecision {
  const buckets = new Map<string, { left: number; at: number }>();
  const perMs = limit / windowMs;
  const policy = `"default";q=${limit};w=${Math.ceil(windowMs / 1000)}`;
  return (key) => {
    const at = now();
    const bucket = buckets.get(key) ?? { left: limit, at };
    bucket.left = Math.min(limit, bucket.left + (at - bucket.at) * perMs);
    bucket.at = at;
    const allowed = bucket.left >= 1;
    if (allowed) bucket.left--;
    buckets.delete(key); // moves it to the end: a Map keeps the order of insertion
    buckets.set(key, bucket);
    if (buckets.size > MAX_BUCKETS)
      for (const oldest of buckets.keys()) {
        buckets.delete(oldest);
        break;
      }
    const secondsToFull = Math.ceil((limit - bucket.left) / perMs / 1000);
    return {
      allowed,
      left: bucket.left,
      headers: { "ratelimit-policy": policy, ratelimit: `"default";r=${Math.floor(bucket.left)};t=${secondsToFull}` },
      retryAfter: Math.max(1, Math.ceil((1 - bucket.left) / perMs / 1000)),
    };
  };
}
