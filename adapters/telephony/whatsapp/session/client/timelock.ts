import type { WhatsAppClient } from "../../../../../src/ports/whatsapp-client.ts";

/** The event that informs a client that its number's time-lock has begun or ended. */
export const TIMELOCK_EVENT = "mex_notification";
const OPERATION = "NotificationUserReachoutTimelockUpdate";
/** Maximum remaining time of a time-lock, ms. */
export const MAX_TIMELOCK_MS = 366 * 24 * 3_600_000;
/**
 * Minimum remaining time, ms, for an active lock that has ended according to our clock. WhatsApp is queried again
 * afterwards.
 */
const MIN_TIMELOCK_MS = 30_000;

/** The lock on calls to strangers. `remainingMs`: undefined if WhatsApp states no end. */
export type Timelock = { readonly active: false } | { readonly active: true; readonly remainingMs: number | undefined };

/** True for an event that reports a change to the time-lock. */
export function isTimelockEvent(event: unknown): boolean {
  return (
    typeof event === "object" && event !== null && (event as { operationName?: unknown }).operationName === OPERATION
  );
}

/**
 * The time-lock of the client's number; undefined for a client without this feature. The client's return value is
 * checked, because its types are not reliable. Rejects if the client does not respond.
 * @param wallTime ms since 1970-01-01 UTC
 */
export async function queryTimelock({ message }: WhatsAppClient, wallTime: number): Promise<Timelock | undefined> {
  if (typeof message?.getReachoutTimelock !== "function") return undefined;
  const reply: unknown = await message.getReachoutTimelock();
  if (typeof reply !== "object" || reply === null) return undefined;
  const { isActive, enforcementEndsAt } = reply as Readonly<Record<string, unknown>>;
  if (isActive !== true) return { active: false };
  const isTime = typeof enforcementEndsAt === "number" && enforcementEndsAt > 0;
  if (!isTime) return { active: true, remainingMs: undefined };
  // Only WhatsApp knows whether the lock has ended: our clock may be ahead.
  const remainingMs = Math.max(enforcementEndsAt * 1_000 - wallTime, MIN_TIMELOCK_MS);
  return { active: true, remainingMs: Math.min(remainingMs, MAX_TIMELOCK_MS) };
}
