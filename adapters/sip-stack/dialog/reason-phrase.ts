/** Reason phrases of the responses that we send (RFC 3261 section 21). */
export const REASONS = {
  200: "OK",
  400: "Bad Request",
  405: "Method Not Allowed",
  415: "Unsupported Media Type",
  416: "Unsupported URI Scheme",
  420: "Bad Extension",
  422: "Session Interval Too Small",
  480: "Temporarily Unavailable",
  481: "Call/Transaction Does Not Exist",
  488: "Not Acceptable Here",
  489: "Bad Event",
  491: "Request Pending",
  500: "Server Internal Error",
  501: "Not Implemented",
  603: "Decline",
} as const satisfies Readonly<Record<number, string>>;

/** A status code that we send. */
export type OurStatus = keyof typeof REASONS;
