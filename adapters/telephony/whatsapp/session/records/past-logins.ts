import { MAX_LOGINS } from "../flow/reconnects.ts";
import type { SessionFlow } from "../flow/session-transitions.ts";

/** Key of the record that holds a number's logins. */
export const PAST_LOGINS_KEY = "ringport/logins";
const MAX_REASON_LENGTH = 200;

/** A number's logins, as stored for another process. Times are ms since 1970-01-01 UTC. */
export interface PastLogins {
  /** Logins in the last hour. */
  readonly logins: readonly number[];
  /** Number of refusals for a restriction since the last accepted login. */
  readonly restrictions: number;
  readonly restriction: Restriction | undefined;
}

/** A restriction that WhatsApp has put on a number, which does not log in before its end. */
export interface Restriction {
  /** A sentence for the owner of the number. */
  readonly reason: string;
  /** Time of the next login, ms since 1970-01-01 UTC. */
  readonly endsAt: number;
}

/** A session's logins, for a later process. @param clocks monotonic, ms, and ms since 1970-01-01 UTC */
export function pastLoginsOf(
  { reconnects, restriction }: SessionFlow,
  { now, wall: wallTime }: { readonly now: number; readonly wall: number },
): PastLogins {
  const { logins, restrictions } = reconnects;
  return { logins: logins.map((at) => wallTime - (now - at)), restrictions, restriction };
}

/** The logins that a record contains; other content is ignored. */
export function readPastLogins(value: unknown): PastLogins {
  const { logins, restrictions, restriction } = fieldsOf(value);
  const times = Array.isArray(logins) ? logins.filter((at): at is number => Number.isFinite(at)) : [];
  const { reason, endsAt } = fieldsOf(restriction);
  const isRestriction = typeof reason === "string" && reason.length <= MAX_REASON_LENGTH && Number.isFinite(endsAt);
  return {
    logins: times.slice(-MAX_LOGINS),
    restrictions: typeof restrictions === "number" && restrictions > 0 ? Math.min(restrictions, MAX_LOGINS) : 0,
    restriction: isRestriction ? { reason, endsAt: endsAt as number } : undefined,
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
