/** Bounds on the wait for the next code, ms, in case the expiry time is missing or the clocks differ. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Pause after a failure, and for a code without an expiry time, ms. */
export const PAUSE_MS = 5_000;

/** Time to wait for the next code, ms. @param expiresAt the code's expiry time, RFC 3339; null if unknown */
export function pauseUntil(expiresAt: string | null, now: number): number {
  const remainingMs = expiresAt === null ? PAUSE_MS : Date.parse(expiresAt) - now;
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, remainingMs));
}
