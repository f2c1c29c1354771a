/** Progress of a call before it is answered. */
export interface DialProgress {
  /** True if the network has reported that the call reached the callee's side, so that it could have been answered. */
  readonly reached: boolean;
  /** The last report of the network, as the beginning of a sentence: `the trunk did not respond to the INVITE`. */
  readonly detail: string | null;
}
