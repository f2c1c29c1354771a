/** Maximum concurrent requests of one user, by their expensive part. A further one gets `server_busy`. */
export const MAX_AT_ONCE = {
  /** Audio files of new calls that are being checked, or wait for the check: each is held in memory. */
  inspections: 50,
  /** Requests for a code that links a phone: they wait for the network, and draw the code. */
  linking: 20,
  /** The same for one demo token's instance; they count towards its user's. */
  demoLinking: 5,
  /** Requests of the link pages of one instance, whose visitors have no user. */
  linkPages: 10,
  /** Voice samples that are being spoken, or wait for their turn. */
  samples: 4,
  /** Imports of targets into batches. */
  imports: 1,
  /** Plans of batches. */
  plans: 2,
  /** Requests that wait for something new, and event streams. A further request does not wait. */
  waits: 100,
} as const;
