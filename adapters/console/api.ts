import type { Registration } from "../../src/application/accounts/account-use-cases.ts";
import type { TokenScope } from "../../src/domain/access/token-scope.ts";

// Request and response bodies of the console's own routes, shared by its server part and its pages. Times are RFC 3339.
// For everything else, the pages use /console/v1/…, the HTTP API for the signed-in user.

/** `GET /console/api/session`: the state that every page loads first. */
export interface SessionState {
  /** Null if no one is signed in. */
  readonly account: AccountView | null;
  /** Rule for the next registration. */
  readonly registration: "first" | Registration;
  /** True if Ringport manages the accounts; false if the embedding program signs people in. */
  readonly accounts: boolean;
  /** URL at which the embedding program signs people in; null if Ringport manages the accounts. */
  readonly sign_in_url: string | null;
  /** The URL of the HTTP API, for examples to copy. */
  readonly api_url: string;
  /** True if instances can be on the simulated network, whose phones can be opened in the browser. */
  readonly simulator: boolean;
  /** True if `DYNAMIC_STREAM` calls carry audio here; otherwise they end immediately. */
  readonly streams: boolean;
  readonly version: string;
}

export interface AccountView {
  readonly id: string;
  readonly email: string;
  readonly role: "admin" | "member";
  readonly created_at: string;
}

/** `POST /console/api/register`, `POST /console/api/sign-in`. Both return a {@link SessionState}. */
export interface LoginBody {
  readonly email: string;
  readonly password: string;
  /** Code from an invitation or from the first start. */
  readonly code?: string;
}

/** `POST /console/api/password`. Returns a {@link SessionState}; other browsers are signed out. */
export interface PasswordBody {
  readonly current: string;
  readonly next: string;
}

/** `POST /console/api/password-reset`. Returns a {@link SessionState}. */
export interface PasswordResetBody {
  readonly code: string;
  readonly password: string;
}

/** `POST /console/api/account-deletion`. Returns 204. */
export interface AccountDeletionBody {
  readonly password: string;
}

/** An item of `GET /console/api/sessions`; `DELETE /console/api/sessions/:id` ends one. */
export interface SessionView {
  readonly id: string;
  /** True for the browser that sent the request. */
  readonly current: boolean;
  readonly created_at: string;
  readonly last_used_at: string;
  readonly user_agent: string | null;
}

/** An item of `GET /console/api/tokens`; `DELETE /console/api/tokens/:id` revokes one. */
export interface TokenView {
  readonly id: string;
  readonly label: string;
  /** Null: all scopes. */
  readonly scopes: readonly TokenScope[] | null;
  readonly demo_instance_id: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

/** `POST /console/api/tokens`, which returns a {@link NewTokenView}. */
export interface NewTokenBody {
  readonly label: string;
  /** Default: all scopes. */
  readonly scopes?: readonly TokenScope[];
  readonly expires_at?: string;
  readonly demo_instance_id?: string;
}

export interface NewTokenView extends TokenView {
  /** The token, which can be read only once. */
  readonly token: string;
}

/**
 * An item of `GET /console/api/invitations`; `POST` creates one, `DELETE /console/api/invitations/:id` withdraws it.
 */
export interface InvitationView {
  readonly id: string;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface NewInvitationView extends InvitationView {
  /** Link to send to the person; the code is in its fragment. */
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

/** `GET /console/api/summary`: the calls of the last 14 days, for the start page. */
export interface SummaryView {
  /** UTC days, oldest first, including days without calls. */
  readonly days: readonly {
    /** `2026-11-27`. */
    readonly day: string;
    readonly completed: number;
    readonly failed: number;
  }[];
  /** Failed calls by the reason in their outcome, most frequent first. */
  readonly failures: readonly { readonly reason: string; readonly calls: number }[];
}

/** An item of `GET /console/api/networks`: a network that the account's instances may use; the default is first. */
export interface NetworkView {
  /** The `provider` of an instance. */
  readonly name: string;
  /** Way of linking the number: its owner scans a code, or the operator links it. */
  readonly linking: "code" | "operator";
  /** True if the callee's audio reaches the server, so that agents and streams can hear it. */
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
