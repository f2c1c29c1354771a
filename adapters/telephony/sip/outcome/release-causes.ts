import type { ReleaseCause } from "../../../../src/ports/telephony.ts";

/** The meaning of a status that refuses an INVITE. */
export interface StatusMeaning {
  readonly cause: ReleaseCause;
  /** True if the status decides, regardless of the Q.850 cause. */
  readonly isDefinite?: boolean;
  /** The fix, for the owner of the trunk. */
  readonly fix?: string;
}

const CREDENTIALS: StatusMeaning = {
  cause: "rejected_by_network",
  isDefinite: true,
  fix: "check `user`, `authUser` and `password`",
};

const STIR_MEANING: StatusMeaning = {
  cause: "rejected_by_network",
  isDefinite: true,
  fix: "the network could not verify our caller ID (STIR); ask the provider to sign calls from this number, and check `callerId`",
};

/** Advice for a call that the network has blocked. */
export const BLOCKED_FIX =
  "ask the provider why, register the number with the analytics services of the carriers, and call only people who expect it";

/**
 * The table of outcomes: the meaning of each status that refuses a call (RFC 3261 section 21). Other statuses are
 * `rejected_by_network`. A `definite` status is final; for the others a Q.850 cause in the Reason field (RFC 3326, RFC
 * 6432) replaces the meaning in this table, unless it is "normal, unspecified".
 */
export const STATUS_MEANINGS: Readonly<Record<number, StatusMeaning>> = {
  401: CREDENTIALS,
  402: { cause: "rejected_by_network", fix: "the trunk wants payment; check the account's balance" },
  403: {
    cause: "rejected_by_network",
    fix: "check `password` and that the account may call this number, and that `from`, `callerId` and our address are what the trunk expects",
  },
  404: { cause: "number_invalid", isDefinite: true },
  407: CREDENTIALS,
  408: { cause: "unreachable" },
  415: codecs("the peer does not accept our offer"),
  421: { cause: "rejected_by_network", fix: "the trunk requires a SIP extension that is not supported" },
  422: { cause: "rejected_by_network", fix: "the trunk wants longer session timers; set `sessionTimers` to false" },
  428: STIR_MEANING,
  436: STIR_MEANING,
  437: STIR_MEANING,
  438: STIR_MEANING,
  480: { cause: "unreachable" },
  484: { cause: "number_invalid", isDefinite: true },
  486: { cause: "busy", isDefinite: true },
  488: codecs("the peer accepts none of our codecs, or not our `srtp`"),
  503: { cause: "unreachable", isDefinite: true, fix: "the trunk is overloaded or out of order" },
  600: { cause: "busy", isDefinite: true },
  603: { cause: "declined", isDefinite: true },
  604: { cause: "number_invalid", isDefinite: true },
  606: codecs("the peer accepts none of our codecs, or not our `srtp`"),
  607: {
    cause: "rejected_by_network",
    isDefinite: true,
    fix: `the callee's side marks our calls as unwanted (RFC 8197); do not call again, or ${BLOCKED_FIX}`,
  },
  608: {
    cause: "rejected_by_network",
    isDefinite: true,
    fix: `a service in the network blocked the call; ${BLOCKED_FIX}`,
  },
};

/** The meaning of a Q.850 cause if the status is not definite; without those that do not add to it (16, 31, 127). */
export const Q850_MEANINGS: Readonly<Record<number, ReleaseCause>> = {
  1: "number_invalid", // unallocated number
  2: "unreachable", // no route to the transit network
  3: "unreachable", // no route to the destination
  17: "busy",
  18: "no_answer", // no user responding
  19: "no_answer", // alerted, no answer
  20: "unreachable", // subscriber absent
  21: "declined",
  22: "number_invalid", // number changed
  27: "unreachable", // destination out of order
  28: "number_invalid", // incomplete number
  34: "unreachable", // no circuit available
  38: "unreachable", // network out of order
  41: "unreachable", // temporary failure
  42: "unreachable", // switching equipment congestion
  44: "unreachable", // requested circuit not available
  47: "unreachable", // resource unavailable
};

/** A call's progress when it was refused. */
export interface RefusedProgress {
  /** True if the callee had been alerted. */
  readonly hasRung: boolean;
  /** True if a provisional response other than 100 had arrived. */
  readonly hasProgressed: boolean;
}

/** The outcome of a call that was refused with this status. */
export function meaningOf(
  status: number,
  { hasRung, hasProgressed: progressed }: RefusedProgress,
  q850: number | undefined,
): StatusMeaning {
  // A server that waits for the callee without success gives up with 408; before any 18x, it may have waited for
  // another server.
  if (status === 408 && progressed) return { cause: "no_answer", isDefinite: true };
  const meaning = STATUS_MEANINGS[status] ?? { cause: "rejected_by_network" as const };
  if (meaning.isDefinite === true) return meaning;
  const refinedCause = q850 === undefined ? undefined : Q850_MEANINGS[q850];
  if (refinedCause !== undefined) return { cause: refinedCause };
  // "Temporarily unavailable": if the phone rang, it was not answered.
  return status === 480 && hasRung ? { cause: "no_answer" } : meaning;
}

function codecs(finding: string): StatusMeaning {
  return { cause: "rejected_by_network", isDefinite: true, fix: `${finding}; check \`codecs\` and \`srtp\`` };
}
