/** What is wrong with a message, and the status that says so (RFC 3261 section 21). */
export interface Complaint {
  readonly status: number;
  /** A sentence, without its full stop. */
  readonly detail: string;
}
