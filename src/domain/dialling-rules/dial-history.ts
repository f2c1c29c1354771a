/** A call of the instance that was dialled. Times are ms since 1970-01-01 UTC. */
export interface DialRecord {
  readonly callId: string;
  readonly at: number;
  /** Null while the call continues. */
  readonly endedAt: number | null;
  readonly answered: boolean;
  /** True if the network has refused the call because of its number: see `isNumberRefused`. Default: false. */
  readonly refused?: boolean | undefined;
}

/** Maximum number of dials to skip in the search for dials that count towards the answer rate. */
export const MAX_UNREACHED = 200;

/** Facts about the dials of an instance. */
export interface DialHistory {
  /** Time at which its number was linked, ms since 1970-01-01 UTC. */
  readonly linkedAt: number;
  /** Dials of the instance that count for the warm-up, the refusals and the pace, newest first. */
  readonly history: readonly DialRecord[];
  /** The dials that count towards the answer rate, newest first: see `UNANSWERED_REASONS`. Default: `history`. */
  readonly reachedDials?: readonly DialRecord[] | undefined;
  /** Time since the last dial, ms; undefined if there was none. */
  readonly sinceLastDialMs: number | undefined;
  /** Random number for the interval after the last dial, 0 to 1. */
  readonly chance: number;
  /** Times at which its live calls were dialled. Default: none is live. */
  readonly liveDials?: readonly number[] | undefined;
}
