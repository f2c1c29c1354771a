import type { Principal } from "../../domain/access/principal.ts";
import type { TokenScope } from "../../domain/access/token-scope.ts";
import type { TokenRecord } from "../../ports/storage.ts";
import type { IssuedToken } from "../tokens/tokens.ts";

/** Rule for registrations after the first account: open to everyone, or by invitation. */
export type Registration = "open" | "invitation";

/** A person who signs in with an email address and a password. Times are ms since 1970-01-01 UTC. */
export interface Account {
  readonly id: string;
  /** The owner of everything the account creates; its tokens have the same owner. */
  readonly userId: string;
  readonly email: string;
  /** `admin` invites people and reads the server's audit log. */
  readonly role: "admin" | "member";
  readonly createdAt: number;
}

/** A signed-in browser. It ends after 14 days without use, and after 90 days at the latest. */
export interface AccountSession {
  readonly id: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
  /** The `User-Agent` at the sign-in, cut to 200 characters; null if there was none. */
  readonly userAgent: string | null;
}

/** The account of a session, and what it may do. */
export interface SignedIn {
  readonly account: Account;
  readonly session: AccountSession;
  readonly principal: Principal;
}

/** A new session with its secret, which can be read only once. */
export interface NewSession extends SignedIn {
  readonly secret: string;
}

/** The browser from which a person signs in. */
export interface Browser {
  readonly userAgent: string | null;
  /** The browser's mark from `deviceMark`, if it has signed in before. */
  readonly device?: string | undefined;
}

/** An email address and a password. */
export interface Login {
  readonly email: string;
  readonly password: string;
}

/** A code that lets one person register, or set a new password; readable only once. */
export interface OneTimeCode {
  readonly code: string;
  readonly expiresAt: number;
}

/** An unused invitation. */
export interface Invitation {
  readonly id: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Options of a new token. */
export interface NewAccountToken {
  readonly label: string;
  readonly scopes?: readonly TokenScope[] | undefined;
  readonly expiresAt?: number | undefined;
  /** Makes a demo token, limited to this instance of the account. */
  readonly demoInstanceId?: string | undefined;
}

/** An audit log entry. */
export interface AuditEntry {
  readonly id: string;
  readonly at: number;
  /** The acting account; null if no person was signed in. */
  readonly accountId: string | null;
  /** The address at that time, which is kept after the account is deleted. */
  readonly email: string | null;
  /** Such as `account.registered`, `token.revoked`, `instance.deleted`. */
  readonly action: string;
  /** The id of the affected record. */
  readonly subject: string | null;
}

/**
 * Accounts, their sessions, and the actions of people who are signed in. Every method may throw an
 * {@link AccountRefusal}.
 */
export interface AccountUseCases {
  /** Requirement for the next registration: the first-start code, an invitation, or nothing. */
  registration(): Promise<"first" | Registration>;
  /**
   * A code for registering the administrator, valid for 24 hours; replaces the previous code. Undefined once there is
   * an administrator.
   */
  firstCode(): Promise<OneTimeCode | undefined>;
  /**
   * The first account is an administrator's, and takes over `admin`, the user that owns the first token. Throws
   * `registration_closed`, `code_invalid`, `email_invalid`, `email_taken`, `password_invalid`, `password_common`,
   * `too_many_attempts`.
   */
  register(person: Login & { readonly code?: string | undefined }, browser: Browser): Promise<NewSession>;
  /**
   * Throws `sign_in_failed`, which does not reveal whether the address or the password was wrong, and
   * `too_many_attempts` with a `retryAfterMs`: if many passwords are being hashed, or after five failures for an
   * address (or from a browser with a device mark), in which case the wait grows with each failure.
   */
  signIn(login: Login, browser: Browser): Promise<NewSession>;
  /**
   * Returns the person with this session secret; undefined if it is unknown or has expired. Using a session prolongs
   * it.
   */
  session(secret: string): Promise<SignedIn | undefined>;
  signOut(secret: string): Promise<void>;
  /**
   * A signed-in browser's mark, to pass as `device` of its later sign-ins: their failures are counted separately from
   * those of strangers, and their passwords are verified first. A session has one counter, and a new password
   * invalidates all marks. Undefined if the browser already has a mark of this account.
   */
  deviceMark(signedIn: SignedIn, currentMark: string | undefined): Promise<string | undefined>;
  /** Lists the sessions of an account, newest first. */
  sessions(account: Account): Promise<AccountSession[]>;
  /** Throws `session_not_found`. */
  endSession(account: Account, sessionId: string): Promise<void>;
  /** Ends all other sessions. Throws `password_wrong`, `password_invalid`, `password_common`, `too_many_attempts`. */
  changePassword(
    account: Account,
    passwords: { readonly current: string; readonly next: string },
    browser: Browser,
  ): Promise<NewSession>;
  /**
   * A code for setting a new password, valid for 24 hours; the operator passes it on. Undefined if no account has this
   * address.
   */
  resetCode(email: string): Promise<OneTimeCode | undefined>;
  /** Ends all sessions. Throws `code_invalid`, `password_invalid`, `password_common`. */
  resetPassword(code: string, password: string, browser: Browser): Promise<NewSession>;
  /**
   * Deletes the account with everything that its user owns: tokens, webhooks, instances, calls with their recordings.
   * After a `StorageUnavailable` a repeated request continues. Throws `password_wrong`, `too_many_attempts`, and
   * `last_admin` if other people have accounts.
   */
  delete(account: Account, password: string): Promise<void>;

  /**
   * Creates an invitation, valid for a week. Throws `invitation_quota`, and `admin_required`, as the other methods for
   * administrators do.
   */
  invite(account: Account): Promise<Invitation & OneTimeCode>;
  invitations(account: Account): Promise<Invitation[]>;
  /** Throws `invitation_not_found`. */
  withdrawInvitation(account: Account, invitationId: string): Promise<void>;

  /** Tokens of the account's user that have not been revoked, newest first. */
  tokens(account: Account): Promise<TokenRecord[]>;
  /** Throws `token_invalid`, `token_quota`, `instance_not_found`. */
  createToken(account: Account, token: NewAccountToken): Promise<IssuedToken>;
  /** Throws `token_not_found`. */
  revokeToken(account: Account, tokenId: string): Promise<void>;

  /**
   * Logs an action that was carried out elsewhere, such as the deletion of an instance. Never throws. An account's
   * newest 10,000 entries are kept for a year.
   */
  note(account: Account, action: string, subject: string | null): Promise<void>;
  /**
   * Audit log entries, newest first, 100 at a time: all of them for the administrator, only their own for other people.
   */
  audit(account: Account, page?: { readonly after?: string | undefined }): Promise<AuditEntry[]>;
}
