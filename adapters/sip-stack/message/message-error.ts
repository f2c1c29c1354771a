/** A fault of a message, and the status of the response to it (RFC 3261 section 21). */
export interface MessageError {
  readonly status: number;
  /** The fault as a reason phrase, without a full stop. */
  readonly detail: string;
}
