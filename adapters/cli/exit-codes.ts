import type { Outcome } from "../../src/client/index.ts";

/** Exit codes of the program. */
export const EXIT = {
  done: 0,
  failed: 1,
  /** A mistake that the user can fix. */
  usage: 2,
  busy: 3,
  declined: 4,
  noAnswer: 5,
  unreachable: 6,
  /** The instance already has an active call. */
  occupied: 7,
  /** `serve`: another server has taken over the database, or may have. */
  leaseLost: 8,
} as const;

/** Help text about the exit codes, for commands that wait for a call. */
export const EXIT_CODES_HELP =
  "Exit code: 0 completed, 1 failed, 2 bad input, 3 busy, 4 declined, 5 no answer, 6 unreachable or no such number, 7 the instance already has a call, 130 Ctrl-C.";

const EXIT_CODE_BY_REASON: Partial<Record<Outcome["reason"], number>> = {
  busy: EXIT.busy,
  declined: EXIT.declined,
  no_answer: EXIT.noAnswer,
  unreachable: EXIT.unreachable,
  number_invalid: EXIT.unreachable,
};

/** The exit code for a call that has ended. */
export function exitCodeOf(call: { readonly status: string; readonly outcome: Outcome }): number {
  return call.status === "COMPLETED" ? EXIT.done : (EXIT_CODE_BY_REASON[call.outcome.reason] ?? EXIT.failed);
}
