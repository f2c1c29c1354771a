/** The history of a number's connections and logins, which decides on the next login. Times are monotonic, ms. */
export interface Reconnects {
  /** Number of attempts in a row without a connection that lasted. */
  readonly failures: number;
  /** Time at which the connection came up; undefined while it is down. */
  readonly upSince: number | undefined;
  /** Times of recent connection losses. */
  readonly losses: readonly number[];
  /** True if the log already names the connection as unstable. */
  readonly isInstabilityLogged: boolean;
  /**
   * Times at which an earlier client of this session, which could not be disconnected, recently took over the
   * connection.
   */
  readonly takeovers: readonly number[];
  /** Logins in the last hour, accepted or not. */
  readonly logins: readonly number[];
  /** True while a login is in progress: its connection is not up, and has not failed. */
  readonly isLoggingIn: boolean;
  /** True if the client has not reported that WhatsApp accepted the latest login. */
  readonly isAcceptanceDue: boolean;
  /**
   * Number of refused logins since the last accepted one, except those for a restriction or a fault of WhatsApp itself.
   */
  readonly refusals: number;
  /** Number of refusals for a restriction of the number since the last accepted login. */
  readonly restrictions: number;
  /** Recent times at which the client logged in again, because WhatsApp requested it (515) or automatically. */
  readonly resumptions: readonly number[];
}

export const NO_RECONNECTS: Reconnects = {
  failures: 0,
  upSince: undefined,
  losses: [],
  isInstabilityLogged: false,
  takeovers: [],
  logins: [],
  isLoggingIn: false,
  isAcceptanceDue: false,
  refusals: 0,
  restrictions: 0,
  resumptions: [],
};

/** Minimum duration of a connection that ends a series of failures, ms. */
export const STABLE_MS = 60_000;
/** A connection is unstable if it drops {@link MAX_FLAPS} times within this time, ms. */
export const FLAP_WINDOW_MS = 10 * 60_000;
export const MAX_FLAPS = 5;

/** Maximum number of takeovers within {@link FLAP_WINDOW_MS} that are attributed to an earlier client. */
export const MAX_TAKEOVERS = 3;

/** Maximum number of logins per number within {@link LOGIN_WINDOW_MS}, regardless of their cause. */
export const MAX_LOGINS = 20;
export const LOGIN_WINDOW_MS = 3_600_000;
/** Maximum duration of a restriction, ms. */
export const MAX_RESTRICTION_MS = 366 * 24 * 3_600_000;
/** Time until a restriction without a known end is checked, ms; doubled with each further refusal. */
export const RESTRICTION_MS = 8 * 3_600_000;

const FIRST_MS = 2_000;
const MAX_WAIT_MS = 5 * 60_000;
const UNSTABLE_MS = 60_000;
const MINUTE_MS = 60_000;
const MAX_REFUSED_MS = 6 * 3_600_000;
/** Margin for the difference between the clocks of WhatsApp and this server, ms. */
const END_MARGIN_MS = 5_000;

/** Records that the connection is up, since WhatsApp has accepted the login. */
export function withConnectionUp(before: Reconnects, now: number): Reconnects {
  return { ...before, upSince: before.upSince ?? now, refusals: 0, restrictions: 0, isLoggingIn: false };
}

/** Records that the connection dropped. */
export function withConnectionLost(before: Reconnects, now: number): Reconnects {
  if (before.upSince === undefined) return before;
  const failures = now - before.upSince >= STABLE_MS ? 0 : before.failures;
  const losses = [...before.losses, now].filter((at) => now - at < FLAP_WINDOW_MS).slice(-MAX_FLAPS);
  return {
    ...before,
    failures,
    upSince: undefined,
    losses,
    isInstabilityLogged: before.isInstabilityLogged && losses.length >= MAX_FLAPS,
  };
}

/** Attributes a lost connection to an earlier client of the session; returns undefined if that happens too often. */
export function withTakeover(before: Reconnects, now: number): Reconnects | undefined {
  const takeovers = [...before.takeovers.filter((at) => now - at < FLAP_WINDOW_MS), now];
  return takeovers.length > MAX_TAKEOVERS ? undefined : { ...before, takeovers };
}

/** Counts an attempt that has failed, or is about to start. @param kind the kind of fault */
export function withFailedAttempt(before: Reconnects, kind: FaultKind): Reconnects {
  const refusals = before.refusals + (kind === "temporary" ? 0 : 1);
  return { ...before, failures: before.failures + 1, refusals, isLoggingIn: false, isAcceptanceDue: false };
}

/** True if the connection keeps dropping. */
export function isUnstable({ losses }: Reconnects, now: number): boolean {
  return losses.filter((at) => now - at < FLAP_WINDOW_MS).length >= MAX_FLAPS;
}

/** Counts a login. */
export function withLogin(before: Reconnects, now: number): Reconnects {
  const logins = [...recentLogins(before, now), now].slice(-MAX_LOGINS);
  return { ...before, logins, isLoggingIn: true, isAcceptanceDue: true };
}

/** Adds an earlier process's logins. @param ages ms; a negative age, from a clock that was set back, counts as zero */
export function withPastLogins(before: Reconnects, ages: readonly number[], now: number): Reconnects {
  const pastLogins = ages.map((age) => now - Math.max(0, age)).filter((at) => now - at < LOGIN_WINDOW_MS);
  return { ...before, logins: [...pastLogins, ...before.logins].sort((a, b) => a - b).slice(-MAX_LOGINS) };
}

/** Discounts the pending login if the connection could not be opened: it has not reached WhatsApp. */
export function withoutPendingLogin(before: Reconnects): Reconnects {
  if (!before.isLoggingIn) return before;
  return { ...before, logins: before.logins.slice(0, -1), isLoggingIn: false, isAcceptanceDue: false };
}

/** Time until the number may log in again, ms; 0 if it may now. */
export function loginBudgetMs(reconnects: Reconnects, now: number): number {
  const [oldest, ...others] = recentLogins(reconnects, now);
  return oldest === undefined || others.length + 1 < MAX_LOGINS ? 0 : oldest + LOGIN_WINDOW_MS - now;
}

function recentLogins({ logins }: Reconnects, now: number): number[] {
  return logins.filter((at) => now - at < LOGIN_WINDOW_MS);
}

/**
 * Maximum number of logins within {@link STABLE_MS} that WhatsApp requests or the client starts automatically; during a
 * call, any other login would cut it off.
 */
const MAX_RESUMPTIONS = 1;
const MAX_RESUMPTIONS_IN_CALL = 3;

/** Counts a login that WhatsApp requested or the client started; returns undefined if there are too many. */
export function withResumption(
  before: Reconnects,
  { now, inCall }: { now: number; inCall: boolean },
): Reconnects | undefined {
  const resumptions = [...before.resumptions.filter((at) => now - at < STABLE_MS), now];
  if (resumptions.length > (inCall ? MAX_RESUMPTIONS_IN_CALL : MAX_RESUMPTIONS)) return undefined;
  return loginBudgetMs(before, now) > 0 ? undefined : { ...withLogin(before, now), isLoggingIn: false, resumptions };
}

/**
 * Waits before the next login, by the kind of fault, ms. All are random, so that many numbers do not log in
 * simultaneously.
 * - `temporary`: up to 2 s, doubled with each failure up to 5 min, any length from zero (full jitter). An unstable
 *   connection waits longer.
 * - `declined`: 1 to 2 min, doubled with each refusal up to 6 h.
 * - `outdated`: 15 to 30 min, doubled with each refusal up to 6 h.
 */
const WAITS = {
  temporary: (reconnects: Reconnects, now: number, chance: number): number => {
    const maxMs = Math.min(MAX_WAIT_MS, FIRST_MS * backoffFactor(reconnects.failures));
    if (isUnstable(reconnects, now)) return Math.max(maxMs, UNSTABLE_MS) * (0.5 + chance / 2);
    return maxMs * chance;
  },
  declined: ({ refusals }: Reconnects, _now: number, chance: number): number =>
    Math.min(MAX_REFUSED_MS, 2 * MINUTE_MS * backoffFactor(refusals)) * (0.5 + chance / 2),
  outdated: ({ refusals }: Reconnects, _now: number, chance: number): number =>
    Math.min(MAX_REFUSED_MS, 30 * MINUTE_MS * backoffFactor(refusals)) * (0.5 + chance / 2),
} as const;

/** The kind of fault that keeps a number disconnected. */
export type FaultKind = keyof typeof WAITS;

function backoffFactor(times: number): number {
  return 2 ** Math.min(10, Math.max(0, times - 1));
}

/** The wait before the next login, never shorter than {@link loginBudgetMs}. @param chance 0 to 1 */
export function waitMs(kind: FaultKind, reconnects: Reconnects, now: number, chance: number): number {
  return Math.max(WAITS[kind](reconnects, now, chance), loginBudgetMs(reconnects, now));
}

/** The wait until a restriction has ended. @param expiresInMs time that WhatsApp stated, ms; undefined if unknown */
export function restrictionMs(
  reconnects: Reconnects,
  expiresInMs: number | undefined,
  now: number,
  chance: number,
): number {
  const { restrictions } = reconnects;
  const defaultMs = RESTRICTION_MS * 2 ** Math.min(5, Math.max(0, restrictions - 1)) * (1 + chance / 8);
  const remainingMs = expiresInMs === undefined ? defaultMs : expiresInMs + END_MARGIN_MS;
  return Math.max(remainingMs, waitMs("declined", { ...reconnects, refusals: restrictions }, now, chance));
}
