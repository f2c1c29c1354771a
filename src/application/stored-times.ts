const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Maximum lead of a stored time over the wall clock, by its column, ms. A later time was written by a fast clock.
 * `test/structure/stored-times.ts` lists all other columns that hold times, and why no code checks them against this
 * table.
 */
export const MAX_AHEAD_MS = {
  "calls.created_at": 0,
  /** The longest time that a call may wait in its queue: see `call-input.ts`. */
  "calls.expires_at": 7 * DAY_MS,
  "calls.dialing_at": 0,
  "instances.linked_at": 0,
  /** The longest pause of a protection: see `number-protection-input.ts`. */
  "instances.pause": 7 * DAY_MS,
  /** The longest pause between two attempts, with its jitter. */
  "webhook_deliveries.next_attempt_at": 1.2 * DAY_MS,
  "webhook_deliveries.created_at": 0,
  /** Time for which messages are also signed with the old key after a rotation. */
  "webhooks.old_key_until": DAY_MS,
  /** Time without use after which a session ends. */
  "account_sessions.expires_at": 14 * DAY_MS,
  "account_sessions.last_used_at": 0,
  "account_sessions.created_at": 0,
  /** Validity of an invitation; other codes are valid for a day. */
  "account_codes.expires_at": 7 * DAY_MS,
} as const satisfies Readonly<Record<`${string}.${string}`, number>>;

/**
 * The effective value of a stored time, ms since 1970-01-01 UTC: a time beyond the latest legal one is from a fast
 * clock, and is replaced by the latest legal time.
 * @param maxAheadMs a smaller lead than the column's, ms
 */
export function storedTime(
  column: keyof typeof MAX_AHEAD_MS,
  storedAt: number,
  now: number,
  maxAheadMs: number = MAX_AHEAD_MS[column],
): number {
  return Math.min(storedAt, now + maxAheadMs);
}
