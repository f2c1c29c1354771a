import type { Registration } from "../../src/application/accounts/account-use-cases.ts";
import type { TokenScope } from "../../src/domain/access/token-scope.ts";

// The bodies of the console's own routes, which its server part answers and its pages read. Times are RFC 3339.
// Everything else the pages ask at /console/v1/…, which is the HTTP interface for the person signed in.

/** `GET /console/api/session`: what a page needs to know before it shows anything. */
export interface SessionState {
  /** Null: no person is signed in. */
  readonly account: AccountView | null;
  /** Requirement for the next registration. */
  readonly registration: "first" | Registration;
  /** There are accounts to sign in with; false if the embedding program signs people in. */
  readonly accounts: boolean;
  /** Address at which the embedding program signs people in; null with accounts of Ringport. */
  readonly sign_in_url: string | null;
  /** The address of the HTTP interface, for examples to copy. */
  readonly api_url: string;
  /** Instances can be on the simulated network, and a phone of it can be opened in the browser. */
  readonly simulator: boolean;
  /** Calls of the type `DYNAMIC_STREAM` carry audio here; otherwise they end at once. */
  readonly streams: boolean;
  readonly version: string;
}

export interface AccountView {
  readonly id: string;
  readonly email: string;
  readonly role: "admin" | "member";
  readonly created_at: string;
}

/** `POST /console/api/register`, `POST /console/api/sign-in`. Both answer a {@link SessionState}. */
export interface LoginBody {
  readonly email: string;
  readonly password: string;
  /** Code of an invitation or of the first start. */
  readonly code?: string;
}

/** `POST /console/api/password`. Answers a {@link SessionState}; other browsers are signed out. */
export interface PasswordBody {
  readonly current: string;
  readonly next: string;
}

/** `POST /console/api/password-reset`. Answers a {@link SessionState}. */
export interface PasswordResetBody {
  readonly code: string;
  readonly password: string;
}

/** `POST /console/api/account-deletion`. Answers 204. */
export interface AccountDeletionBody {
  readonly password: string;
}

/** An item of `GET /console/api/sessions`; `DELETE /console/api/sessions/:id` ends one. */
export interface SessionView {
  readonly id: string;
  /** The browser that asks. */
  readonly current: boolean;
  readonly created_at: string;
  readonly last_used_at: string;
  readonly user_agent: string | null;
}

/** An item of `GET /console/api/tokens`; `DELETE /console/api/tokens/:id` revokes one. */
export interface TokenView {
  readonly id: string;
  readonly label: string;
  /** Null: all of them. */
  readonly scopes: readonly TokenScope[] | null;
  readonly demo_instance_id: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

/** `POST /console/api/tokens`, which answers a {@link NewTokenView}. */
export interface NewTokenBody {
  readonly label: string;
  /** Left out: all of them. */
  readonly scopes?: readonly TokenScope[];
  readonly expires_at?: string;
  readonly demo_instance_id?: string;
}

export interface NewTokenView extends TokenView {
  /** Readable this one time only. */
  readonly token: string;
}

/** An item of `GET /console/api/invitations`; `POST` makes one, `DELETE /console/api/invitations/:id` withdraws it. */
export interface InvitationView {
  readonly id: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface NewInvitationView extends InvitationView {
  /** To send to the person; the code is in its fragment. */
  readonly url: string;
}

/** An item of `GET /console/api/audit?after=ID`. */
export interface AuditEntryView {
  readonly id: string;
  readonly at: string;
  readonly email: string | null;
  readonly action: string;
  readonly subject: string | null;
}

/** `GET /console/api/summary`: the calls of the last 14 days, for the first page. */
export interface SummaryView {
  /** Oldest day first, days without calls included; days of UTC. */
  readonly days: readonly {
    /** `2026-11-27`. */
    readonly day: string;
    readonly completed: number;
    readonly failed: number;
  }[];
  /** Failed calls by the reason of their outcome, the most frequent first. */
  readonly failures: readonly { readonly reason: string; readonly calls: number }[];
}

/** An item of `GET /console/api/networks`: a network that the account's instances may use, the default first. */
export interface NetworkView {
  /** The `provider` of an instance. */
  readonly name: string;
  /** The number is linked by a code that its owner scans, or by the operator. */
  readonly linking: "code" | "operator";
  /** The callee's audio reaches the server, so agents and streams can listen. */
  readonly receives_audio: boolean;
  /** Allowed caller numbers, or prefixes that end in `*`; null if the caller cannot be chosen. */
  readonly caller_ids: readonly string[] | "*" | null;
}

/** Error response of these routes: an RFC 9457 problem document, as in `/v1`. */
export interface ProblemView {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
}
