/** How often connections broke off, and how many attempts have failed. Times are monotonic, ms. */
export interface Reconnects {
  /** Attempts in a row without a connection that lasted. */
  readonly failures: number;
  /** Since when the connection is up; undefined while it is not. */
  readonly upSince: number | undefined;
  /** When the connection broke off lately. */
  readonly losses: readonly number[];
  /** The log names the connection as unstable already. */
  readonly logged: boolean;
  /** When an earlier client of this session, which could not be disconnected, took the connection over lately. */
  readonly takeovers: readonly number[];
}

export const NO_RECONNECTS: Reconnects = { failures: 0, upSince: undefined, losses: [], logged: false, takeovers: [] };

/** A connection of this length ends a series of failures, ms. */
export const LASTING_MS = 60_000;
/** A connection that breaks off {@link FLAPS} times within this time is unstable, ms. */
export const FLAP_WINDOW_MS = 10 * 60_000;
export const FLAPS = 5;

/** More takeovers than this within {@link FLAP_WINDOW_MS} are no longer put down to an earlier client. */
export const MOST_TAKEOVERS = 3;

const FIRST_MS = 2_000;
const LONGEST_MS = 5 * 60_000;
const UNSTABLE_MS = 60_000;

/** The connection is up. */
export function connectionUp(before: Reconnects, now: number): Reconnects {
  return { ...before, upSince: before.upSince ?? now };
}

/** The connection broke off. */
export function connectionLost(before: Reconnects, now: number): Reconnects {
  if (before.upSince === undefined) return before;
  const failures = now - before.upSince >= LASTING_MS ? 0 : before.failures;
  const losses = [...before.losses, now].filter((at) => now - at < FLAP_WINDOW_MS).slice(-FLAPS);
  return { ...before, failures, upSince: undefined, losses, logged: before.logged && losses.length >= FLAPS };
}

/** An earlier client of the session may have taken the connection over; undefined if that happens too often. */
export function takenOver(before: Reconnects, now: number): Reconnects | undefined {
  const takeovers = [...before.takeovers.filter((at) => now - at < FLAP_WINDOW_MS), now];
  return takeovers.length > MOST_TAKEOVERS ? undefined : { ...before, takeovers };
}

/** Another attempt has failed, or is about to be made. */
export function attemptFailed(before: Reconnects): Reconnects {
  return { ...before, failures: before.failures + 1 };
}

/** Whether the connection breaks off again and again. */
export function isUnstable({ losses }: Reconnects, now: number): boolean {
  return losses.filter((at) => now - at < FLAP_WINDOW_MS).length >= FLAPS;
}

/**
 * The wait before the next attempt: up to 2 s, doubled with each failure up to 5 min, anything from zero on by chance
 * (full jitter), so that many numbers do not come back in step. An unstable connection waits longer.
 * @param chance 0 to 1
 */
export function backoffMs(reconnects: Reconnects, now: number, chance: number): number {
  const { failures } = reconnects;
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(10, Math.max(0, failures - 1)));
  if (isUnstable(reconnects, now)) return Math.max(longest, UNSTABLE_MS) * (0.5 + chance / 2);
  return longest * chance;
}

/** The wait while WhatsApp refuses the client's version: 15 to 30 min, doubled up to 6 h. */
export function outdatedMs({ failures }: Reconnects, chance: number): number {
  return Math.min(6 * 3_600_000, 30 * 60_000 * 2 ** Math.min(10, Math.max(0, failures - 1))) * (0.5 + chance / 2);
}
