import { ALLOW, type HeaderField } from "./user-agent-options.ts";

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
export type ResponseStatus = keyof typeof REASONS;

/** Refusal of a request. */
export interface InviteRefusal {
  readonly status: ResponseStatus;
  readonly headers?: readonly HeaderField[];
}

const NO_SUCH_DIALOG: InviteRefusal = { status: 481 };
const NOT_ALLOWED: InviteRefusal = { status: 405, headers: [ALLOW] };
const NOT_IMPLEMENTED: InviteRefusal = { status: 501 };

/** Methods that we recognize but do not allow (RFC 3261 section 21.4.6). */
const KNOWN_METHODS: ReadonlySet<string> = new Set(["REGISTER", "SUBSCRIBE", "PUBLISH", "MESSAGE", "REFER", "OPTIONS"]);

/** Refusals of requests outside of any dialog, by method: we place calls and accept none. */
const OUTSIDE_DIALOG: ReadonlyMap<string, InviteRefusal> = new Map<string, InviteRefusal>([
  // 480 rather than 603, so that other phones on the same account keep ringing.
  ["INVITE", { status: 480 }],
  ["BYE", NO_SUCH_DIALOG],
  ["CANCEL", NO_SUCH_DIALOG],
  ["INFO", NO_SUCH_DIALOG],
  ["NOTIFY", NO_SUCH_DIALOG],
  ["PRACK", NO_SUCH_DIALOG],
  ["UPDATE", NO_SUCH_DIALOG],
]);

/** Refusals of requests within a dialog, by method. */
const IN_DIALOG_REFUSALS: ReadonlyMap<string, InviteRefusal> = new Map<string, InviteRefusal>([
  ["REFER", { status: 603 }],
  // We send no reliable provisional responses (RFC 3262 section 3).
  ["PRACK", NO_SUCH_DIALOG],
]);

/** The error response to a request outside of any dialog. */
export function refusalOutside(method: string): InviteRefusal {
  return OUTSIDE_DIALOG.get(method) ?? unsupported(method);
}

/** The refusal of a request within a dialog. */
export function refusalWithin(method: string): InviteRefusal {
  return IN_DIALOG_REFUSALS.get(method) ?? unsupported(method);
}

/** 405 for a method that we recognize, 501 for any other (RFC 3261 section 21.5.2). */
function unsupported(method: string): InviteRefusal {
  return KNOWN_METHODS.has(method) ? NOT_ALLOWED : NOT_IMPLEMENTED;
}
