/** What somebody has said about being called. */
export const CONSENT_STATUSES = ["granted", "do_not_call"] as const;
/** One of {@link CONSENT_STATUSES}. */
export type ConsentStatus = (typeof CONSENT_STATUSES)[number];

/** Whether a user may call a number. Times are ms since 1970-01-01 UTC. */
export interface Consent {
  readonly userId: string;
  /** E.164. */
  readonly phone: string;
  readonly status: ConsentStatus;
  /** How the user knows, such as the form that was signed. */
  readonly source: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}
