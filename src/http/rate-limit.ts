import type { Principal } from "../domain/access/principal.ts";

/** Number of requests one token may make. */
export interface RateLimit {
  /** Maximum number of requests per window, and in one burst. */
  readonly limit: number;
  /** Length of the window, ms. */
  readonly windowMs: number;
}

/** The limit of all demo tokens of one instance together. */
const DEMO_LIMIT: RateLimit = { limit: 100, windowMs: 10_000 };

/** The decision about one request. */
export interface RateDecision {
  readonly isAllowed: boolean;
  /** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
  readonly headers: Record<string, string>;
  /** Number of requests that are allowed immediately after this one; may be fractional. */
  readonly remaining: number;
  /** Number of seconds until the next request is allowed; at least 1. */
  readonly retryAfter: number;
}

/**
 * Limits the requests of each token, or of each user without one. The demo tokens of an instance have a second limit,
 * which they share; the decision is that of the stricter limit.
 * @param limit undefined if other tokens have no limit
 * @param now a clock that never jumps, ms
 */
export function callerLimiter(
  limit: RateLimit | undefined,
  now: () => number,
): (caller: Pick<Principal, "tokenId" | "userId" | "demoInstanceId">) => RateDecision | undefined {
  const tokenLimiter = limit && rateLimiter(limit, now);
  const demoLimiter = rateLimiter(DEMO_LIMIT, now);
  return ({ tokenId, userId, demoInstanceId }) => {
    const ownDecision = tokenLimiter?.(tokenId ?? userId);
    if (demoInstanceId === undefined || ownDecision?.isAllowed === false) return ownDecision;
    const demoDecision = demoLimiter(demoInstanceId);
    return ownDecision && demoDecision.isAllowed && ownDecision.remaining < demoDecision.remaining
      ? ownDecision
      : demoDecision;
  };
}

/**
 * Maximum number of buckets. Beyond it, the least recently used bucket is dropped, so its key starts with a full bucket
 * again.
 */
const MAX_BUCKETS = 10_000;

/**
 * A token bucket for each key.
 * @param now a clock that never jumps, ms
 */
export function rateLimiter({ limit, windowMs }: RateLimit, now: () => number): (key: string) => RateDecision {
  const buckets = new Map<string, { remaining: number; at: number }>();
  const perMs = limit / windowMs;
  const policy = `"default";q=${limit};w=${Math.ceil(windowMs / 1000)}`;
  return (key) => {
    const at = now();
    const bucket = buckets.get(key) ?? { remaining: limit, at };
    bucket.remaining = Math.min(limit, bucket.remaining + (at - bucket.at) * perMs);
    bucket.at = at;
    const isAllowed = bucket.remaining >= 1;
    if (isAllowed) bucket.remaining--;
    buckets.delete(key); // moves it to the end: a Map keeps the order of insertion
    buckets.set(key, bucket);
    if (buckets.size > MAX_BUCKETS)
      for (const oldestKey of buckets.keys()) {
        buckets.delete(oldestKey);
        break;
      }
    const secondsToFull = Math.ceil((limit - bucket.remaining) / perMs / 1000);
    return {
      isAllowed,
      remaining: bucket.remaining,
      headers: {
        "ratelimit-policy": policy,
        ratelimit: `"default";r=${Math.floor(bucket.remaining)};t=${secondsToFull}`,
      },
      retryAfter: Math.max(1, Math.ceil((1 - bucket.remaining) / perMs / 1000)),
    };
  };
}
