import { environment } from "../../support/fuzz.ts";

/** The model's invariants, by the names that `INVARIANT=…` selects. */
export const INVARIANTS = {
  "dialled-once": "a call is never dialled again once the network has been asked for it, even after a crash",
  "leg-in-time": "no leg outlives its message, its maximum duration or its ring time",
  "delete-hangs-up": "DELETE of a call hangs up at once, whatever the storage does",
  "delete-responds": "DELETE of a call responds within 5 s",
  "one-delete-counts":
    "exactly one of several DELETEs of a call gets 204; after a 503, a repeat gets 204, and the next one 404",
  "stop-hangs-up": "no leg outlives an orderly stop",
  "stop-ends": "an orderly stop ends",
  "deleted-is-cleared": "a deleted instance has no open line, no linked device, no credentials, no active call",
  "deleted-is-silent": "no call of a deleted instance is claimed or dialled",
  "deletion-is-finished": "a DELETE of an instance that got 503 is finished by a repeat, with 204",
  "responses-arrive": "every request gets a response while the storage works, whatever an adapter does",
  "reader-misses-nothing": "a reader that follows its cursor sees every event exactly once",
  "confirmed-is-kept": "confirmed changes survive every crash",
  "linked-has-credentials": "an instance has credentials exactly while it has a number",
  "unlinked-is-cleared": "an unlinked instance that is not linked again has no number and no device",
  "calls-end": "every call ends",
  "dialled-in-time": "a call is not dialled if, while it waited, its process stalled for longer than a call may wait",
  "no-call-stalls": "a waiting call is dialled when its line is free",
  "times-in-order": "the times of creation, start and end are in order",
  "final-is-final": "a final call never changes",
  "one-at-a-time":
    "over all running processes, an instance has no more legs and calls than lines, and a line no more than one call",
  "owner-acts": "a process dials no call and sends no audio once its lease has expired or another process has taken it",
  "starts-afresh": "a process that becomes owner, again or for the first time, has no call on the line",
  "left-is-interrupted": "an earlier owner's calls are FAILED/interrupted once a new one has started",
  protected:
    "no call is dialled before the pace, above the warm-up curve, outside the calling hours or to a blocked number",
  "target-once": "a batch calls no target more often than it records, and none twice at a time",
  "target-follows-call": "a target is CALLING while its call is active, and ends with it",
  "counts-agree": "a batch's counts match its targets",
  timeline: "a call's timeline is complete and matches the call",
  "stream-client": "a stream's client is notified once of its call's end",
  "no-surprise": "no operation fails for an unknown reason",
  "comes-to-rest": "a process without input comes to rest",
  "no-timer-left": "a stopped process leaves no timer",
} as const;

/** The name of an invariant. */
export type Invariant = keyof typeof INVARIANTS;

const selectedInvariant = environment.INVARIANT;
if (selectedInvariant !== undefined && !(selectedInvariant in INVARIANTS))
  throw new Error(`INVARIANT is "${selectedInvariant}": it must be one of ${Object.keys(INVARIANTS).join(", ")}`);

/** A broken invariant. */
export class Violation extends Error {
  override readonly name = "Violation";

  constructor(invariant: Invariant, detail: string) {
    super(`${invariant}: ${INVARIANTS[invariant]}, but ${detail}`);
  }
}

/** The violation found in a run. One found inside the application's code is thrown at the next check. */
export class Findings {
  readonly #violations: Violation[] = [];

  /** Records a violation, unless `INVARIANT=…` selects another invariant. */
  add(invariant: Invariant, detail: string): void {
    if (selectedInvariant === undefined || selectedInvariant === invariant)
      this.#violations.push(new Violation(invariant, detail));
  }

  /** Records a violation unless the invariant holds. */
  expect(invariant: Invariant, holds: boolean, detail: string | (() => string)): void {
    if (!holds) this.add(invariant, typeof detail === "string" ? detail : detail());
  }

  /** @throws {Violation} the first violation */
  assertNone(): void {
    if (this.#violations[0]) throw this.#violations[0];
  }
}
