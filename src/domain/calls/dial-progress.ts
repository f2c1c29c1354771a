/** Progress of a call before an answer. */
export interface DialProgress {
  /** The network has reported that the call got to the callee's side: someone could have answered. */
  readonly reached: boolean;
  /** The last report of the network, as the beginning of a sentence: `the trunk did not respond to the INVITE`. */
  readonly detail: string | null;
}
