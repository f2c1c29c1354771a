/** Bounds of the wait before the next code is requested, ms, in case its expiry is missing or the clocks differ. */
const SOONEST_MS = 1_000;
const LATEST_MS = 60_000;
/** The pause after a failure, and for a code without an expiry, ms. */
export const PAUSE_MS = 5_000;

/** Time to wait for the next code, ms. @param expiresAt expiry of the code, RFC 3339; null if unknown */
export function pauseUntil(expiresAt: string | null, now: number): number {
  const left = expiresAt === null ? PAUSE_MS : Date.parse(expiresAt) - now;
  return Math.min(LATEST_MS, Math.max(SOONEST_MS, left));
}
