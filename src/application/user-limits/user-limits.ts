/** Maximum number of a user's concurrent requests, by their expensive part. Further requests get `server_busy`. */
export const MAX_AT_ONCE = {
  /** Number of audio files of new calls that are being checked or wait for a check: each is held in memory. */
  inspections: 50,
  /** Number of requests for a code that links a phone: they wait for the network, and render the code. */
  linking: 20,
  /** Number of such requests for one demo token's instance, which count towards its user's limit too. */
  demoLinking: 5,
  /** Number of requests from one instance's link pages, whose visitors have no user. */
  linkPages: 10,
  /** Number of voice samples that are being spoken or wait for their turn. */
  samples: 4,
  /** Number of imports of targets into batches. */
  imports: 1,
  /** Number of plans of batches. */
  plans: 2,
  /** Number of event streams and long polls. A further request does not wait. */
  waits: 100,
} as const;
