/** Statuses of a callee's consent to calls. */
export const CONSENT_STATUSES = ["granted", "do_not_call"] as const;
/** One of {@link CONSENT_STATUSES}. */
export type ConsentStatus = (typeof CONSENT_STATUSES)[number];

/** A user's permission to call a number. Times are ms since 1970-01-01 UTC. */
export interface Consent {
  readonly userId: string;
  /** E.164. */
  readonly phone: string;
  readonly status: ConsentStatus;
  /** Origin of the status, such as a signed form. */
  readonly source: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}
