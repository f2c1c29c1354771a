import type { Transitions } from "../../../../../src/base/state-machine.ts";
import type { LineCondition } from "../../../../../src/ports/telephony.ts";
import type { PastLogins, Restriction } from "../records/past-logins.ts";
import type { ClosedConnection, LoginRefusal } from "./closings.ts";
import type { Reconnects } from "./reconnects.ts";

/** States of a number's session. */
export const SESSION_STATES = [
  /** No number is linked, and no code is requested. */
  "idle",
  /** A client without credentials waits for its code to be scanned. */
  "linking",
  /** A client with credentials connects. */
  "connecting",
  "online",
  /** The socket closed without an event during a call; the client reconnects automatically. */
  "dropped",
  /** The connection is closed until the next attempt. */
  "waiting",
  /** The connection stays closed until a user requests it. */
  "halted",
  "closed",
] as const;
type SessionState = (typeof SESSION_STATES)[number];

/** Moves between a session's states. */
export type SessionMove = "link" | "connect" | "open" | "drop" | "lose" | "halt" | "unlink" | "close";

/** Every legal move of a session. */
export const SESSION_TRANSITIONS: Transitions<SessionState, SessionMove> = {
  idle: { link: "linking", connect: "connecting", unlink: "idle", close: "closed" },
  linking: { connect: "connecting", unlink: "idle", close: "closed" },
  connecting: { open: "online", lose: "waiting", halt: "halted", unlink: "idle", close: "closed" },
  online: { drop: "dropped", connect: "connecting", lose: "waiting", halt: "halted", unlink: "idle", close: "closed" },
  dropped: { open: "online", lose: "waiting", halt: "halted", unlink: "idle", close: "closed" },
  waiting: { connect: "connecting", open: "online", lose: "waiting", halt: "halted", unlink: "idle", close: "closed" },
  halted: { connect: "connecting", unlink: "idle", close: "closed" },
  closed: {},
};

/** Decided by `decideSession` and carried out by `Session`. Times are monotonic, ms. */
export interface SessionFlow {
  readonly state: SessionState;
  /** Reason why the number cannot place calls; null while it is online. */
  readonly reason: string | null;
  /** True if the fault lasts until it is fixed. */
  readonly isLasting: boolean;
  /** True if the core has stored the link. */
  readonly isStored: boolean;
  /** True if the client has reported an open connection, and not its end. */
  readonly isOpened: boolean;
  /** True if the client has reopened the socket of a dropped connection and WhatsApp has not accepted its login. */
  readonly isReopened: boolean;
  /** Time since which a connection requested by WhatsApp is about to open; undefined if there is none. */
  readonly resumingSince: number | undefined;
  /** True if the server could not act for the number at the latest check; the next check is due soon. */
  readonly isDisowned: boolean;
  /** True while calls are being ended before the connection is abandoned. */
  readonly isEndingCalls: boolean;
  /** Number of codes shown in this attempt to link. */
  readonly codes: number;
  /** Times until which a shown code may be scanned, and a pairing code typed. */
  readonly codesUntil: number;
  readonly pairingUntil: number;
  /** The restriction by which WhatsApp keeps the number offline; undefined if there is none. */
  readonly restriction: Restriction | undefined;
  readonly reconnects: Reconnects;
  /** True if the core shows a condition or a reason of the last attempt to link. */
  readonly isExplained: boolean;
}

export type SessionInput =
  /** The core requests a code, or another attempt. */
  | { readonly type: "link" }
  /** The line was opened with stored credentials. */
  | { readonly type: "resume" }
  | { readonly type: "unlink" }
  | { readonly type: "close" }
  /** The client shows a code for `ttlMs`. */
  | { readonly type: "qr"; readonly qr: string; readonly ttlMs: number }
  | { readonly type: "pairing_code"; readonly ttlMs: number }
  /** The shown pairing code is no longer valid. */
  | { readonly type: "pairing_code_expired" }
  | { readonly type: "passkey"; readonly hasSigner: boolean }
  /** The phone has accepted this device. @param phone E.164; null if unknown */
  | { readonly type: "paired"; readonly phone: string | null }
  | { readonly type: "link_stored" }
  /** The core has rejected the link: the instance is deleted. */
  | { readonly type: "link_refused" }
  /** The client reports an open connection, with its state at that moment. */
  | ({ readonly type: "opened" } & LiveState)
  | ({ readonly type: "closed" } & ClosedConnection)
  /** WhatsApp has refused a login, or has ended the connection with such a code. */
  | ({ readonly type: "failure" } & LoginRefusal)
  /** WhatsApp has accepted a login. */
  | ({ readonly type: "accepted" } & LiveState)
  /** WhatsApp has ended the stream, after which the client logs in again immediately, without reporting it. */
  | { readonly type: "stream_error"; readonly code: number | undefined }
  /** An earlier process has stored its logins. */
  | ({ readonly type: "history" } & PastLogins)
  /** It is the number's turn: the client logs in next, unless it is disconnected now. */
  | { readonly type: "login" }
  /** The client's current state. */
  | ({ readonly type: "state" } & LiveState)
  /** The client could not be created, or could not connect. */
  | { readonly type: "failed"; readonly reason: string }
  /** The last call on the session has ended. */
  | { readonly type: "calls_ended" }
  | { readonly type: "timer"; readonly timer: WhatsAppTimer };

/** State of the client. */
export interface LiveState {
  readonly isOpen: boolean;
  /** True if the socket is open, and WhatsApp has accepted the login of a linked number. */
  readonly connected: boolean;
  readonly registered: boolean;
}

/**
 * `timeout`: deadline for a code or a connection. `retry`: the next attempt. `ownership`: the server must be
 * able to act for the number again.
 */
export type WhatsAppTimer = "timeout" | "retry" | "ownership";

export type SessionEffect =
  /** Poll the client's state now. */
  | { readonly do: "poll_state" }
  /** Create a new client without credentials, and connect it. */
  | { readonly do: "open_client" }
  /** Connect, with the same client if it still works; a linked number logs in at its turn. */
  | { readonly do: "connect" }
  /** End the connection; the client may connect again. */
  | { readonly do: "disconnect" }
  /** End the connection and ignore the client from now on. */
  | { readonly do: "drop_client" }
  /** Remove this device at WhatsApp, then drop the client. */
  | { readonly do: "log_out" }
  | { readonly do: "show_code"; readonly qr: string; readonly ttlMs: number; readonly sequence: number }
  | { readonly do: "store_link"; readonly phone: string | null }
  /** Delete the client's records. */
  | { readonly do: "forget" }
  | { readonly do: "report_online" }
  | { readonly do: "report_offline"; readonly reason: string; readonly lasting: boolean }
  | { readonly do: "report_unlinked"; readonly reason: string }
  | { readonly do: "report_condition"; readonly condition: LineCondition | undefined; readonly reason: string }
  /** Cut off the call on the session. `isPermanent`: the connection will not return for it. */
  | { readonly do: "calls_lost"; readonly reason: string; readonly isPermanent: boolean }
  | { readonly do: "calls_restored" }
  /** Hang up the calls while the connection is still open. */
  | { readonly do: "end_calls"; readonly reason: string }
  /** Replaces a running timer of this name. */
  | { readonly do: "start_timer"; readonly timer: WhatsAppTimer; readonly ms: number }
  | { readonly do: "stop_timer"; readonly timer: WhatsAppTimer }
  | { readonly do: "log"; readonly level: "info" | "warn" | "error"; readonly message: string };

/** Inputs to a decision besides the state and the event. */
export interface Moment {
  /** Monotonic time, ms. */
  readonly now: number;
  /** ms since 1970-01-01 UTC. */
  readonly wallTime: number;
  /** A random number, 0 to 1. */
  readonly chance: number;
  /** True if this server may still act for the number. */
  readonly isOwner: boolean;
  /** True if the session carries a call. */
  readonly inCall: boolean;
  /** True if an earlier client of this session did not disconnect and may reconnect automatically. */
  readonly hasStrays: boolean;
}

export interface SessionDecision {
  readonly flow: SessionFlow;
  readonly effects: readonly SessionEffect[];
}
