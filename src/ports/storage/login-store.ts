import type { User } from "./account-store.ts";

// Sign-in data: accounts with a password, their sessions, one-time codes, and the audit log. Secrets are stored only as
// SHA-256 in lower-case hex, passwords only as the hasher's output. Times are ms since 1970-01-01 UTC.

/** A stored account. */
export interface AccountRecord {
  readonly id: string;
  /** The owner of its instances, calls and tokens. */
  readonly userId: string;
  /** The address as typed. The addresses of two accounts never differ only in case. */
  readonly email: string;
  readonly passwordHash: string;
  /** At most one account is an administrator's: the first. */
  readonly role: "admin" | "member";
  readonly createdAt: number;
}

/** A stored session of a browser. */
export interface SessionRecord {
  readonly id: string;
  readonly accountId: string;
  /** SHA-256 of its secret. */
  readonly hash: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
  readonly userAgent: string | null;
}

/** Purpose of a one-time code. */
export type CodePurpose = "first" | "invitation" | "reset";

/** A stored one-time code. */
export interface CodeRecord {
  readonly id: string;
  readonly purpose: CodePurpose;
  /** SHA-256 of the code. */
  readonly hash: string;
  /**
   * For a reset, the account whose password it sets; for an invitation, the inviting account; for the first start,
   * null.
   */
  readonly accountId: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** An entry of the audit log. */
export interface AuditRecord {
  readonly id: string;
  readonly at: number;
  readonly accountId: string | null;
  readonly email: string | null;
  readonly action: string;
  readonly subject: string | null;
}

/** A code that is used up by the action it allows. */
export interface UsedCode {
  readonly hash: string;
  readonly purpose: CodePurpose;
  /** The current time: the code must not have expired. */
  readonly now: number;
}

/** An account that is to be stored, with its first session. */
export interface NewAccount {
  readonly account: Omit<AccountRecord, "userId">;
  readonly session: SessionRecord;
  /**
   * The user that is stored with it, unless it takes over an existing user. If the name is taken, its id becomes its
   * name.
   */
  readonly user: User;
  /**
   * For an administrator: the name of the user that the account takes over, if that user has no account. A user whose
   * name is its id, because its account was deleted, is taken over too; of several users, the oldest.
   */
  readonly takesOver?: string | undefined;
  /** Undefined: no code is needed. */
  readonly code: UsedCode | undefined;
}

/** Result of a registration; only `registered` stores anything. */
export type RegistrationResult =
  | { readonly kind: "registered"; readonly account: AccountRecord }
  | { readonly kind: "code_invalid" }
  | { readonly kind: "email_taken" }
  /** There is already an administrator. */
  | { readonly kind: "admin_exists" }
  /** The removal of the administrator's account has begun. */
  | { readonly kind: "admin_leaving" };

/**
 * Result of the decision to remove an account.
 * - `begun`: the removal has begun, now or earlier. If the account is the administrator's, there is no other account,
 *   and none can be registered until it is deleted.
 * - `last_admin`: the account is the administrator's, and other people have accounts; no change was made.
 * - `deleted`: there is no such account.
 */
export type AccountDecision = "begun" | "last_admin" | "deleted";

/**
 * Result of deleting an account.
 * - `deleted`: it was deleted, now or earlier.
 * - `not_empty`: its user has tokens, webhooks, instances or calls; no record was deleted.
 */
export type AccountRemoval = "deleted" | "not_empty";

/** Accounts, their sessions, one-time codes, and the audit log. */
export interface LoginStore {
  /**
   * Stores account, user and session and uses up the code, in one transaction. Of concurrent registrations with one
   * code, one email address, or as the administrator, only one succeeds.
   */
  register(registration: NewAccount): Promise<RegistrationResult>;
  hasAdmin(): Promise<boolean>;
  account(id: string): Promise<AccountRecord | undefined>;
  /** Finds an account by its address, ignoring case. */
  accountByEmail(email: string): Promise<AccountRecord | undefined>;
  /** All accounts, oldest first; at most `limit`. */
  accounts(limit?: number): Promise<AccountRecord[]>;
  /** Replaces a hash with another hash of the same password; has no effect if `from` is no longer stored. */
  rehash(accountId: string, from: string, to: string): Promise<void>;
  /**
   * Sets a password, ends all sessions of the account, deletes its codes for a reset and stores the new session,
   * together.
   * @param allowed the code that is used up for it, or the hash that must still be stored
   * @returns false if the account was deleted, the code is not valid, or another hash is stored; then no row was
   *   written
   */
  changePassword(
    session: SessionRecord,
    passwordHash: string,
    allowed: UsedCode | { readonly passwordHash: string },
  ): Promise<boolean>;
  /**
   * Stores a session, if its account has this password hash, and deletes the account's oldest other sessions beyond a
   * limit.
   * @param maxSessions maximum number of sessions of the account, including the new session
   * @returns false if the password was changed or the account was deleted in the meantime; no row was stored
   */
  insertSession(session: SessionRecord, passwordHash: string, maxSessions: number): Promise<boolean>;
  /** One look-up on a unique index; expired sessions are returned too. */
  sessionByHash(hash: string): Promise<{ session: SessionRecord; account: AccountRecord } | undefined>;
  /** The sessions of an account, newest first; expired sessions are returned too. */
  sessions(accountId: string): Promise<SessionRecord[]>;
  /** Records that a session was used, and prolongs it; has no effect if a later use is already recorded. */
  prolongSession(id: string, lastUsedAt: number, expiresAt: number): Promise<void>;
  /** Returns true if the account had this session. */
  deleteSession(accountId: string, id: string): Promise<boolean>;
  /**
   * Stores a code. A first-start or reset code replaces the previous code (of the same account).
   * @param maxInvitations maximum number of open invitations, which are those that had not expired when the code was
   *   created
   * @returns false for a first-start code once there is an administrator, and for an invitation beyond the limit;
   *   nothing was stored
   */
  insertCode(code: CodeRecord, maxInvitations: number): Promise<boolean>;
  /** Expired codes are returned too. */
  codeByHash(hash: string): Promise<CodeRecord | undefined>;
  /** Invitations, newest first; expired invitations are returned too. */
  invitations(): Promise<CodeRecord[]>;
  /** Returns true if there was such an invitation. */
  deleteInvitation(id: string): Promise<boolean>;
  /** Deletes sessions and codes that expired before a time, in pieces. */
  forgetExpired(before: number): Promise<void>;
  /**
   * Adds an entry to the audit log, and deletes entries from before `keptSince`, and the account's oldest entries
   * beyond a limit.
   * @param maxEntries approximate number of entries that the account keeps
   */
  note(entry: AuditRecord, keptSince: number, maxEntries: number): Promise<void>;
  /** Entries of all accounts or of one account, newest first by id. */
  audit(filter: { readonly accountId?: string | undefined }, page: AuditPage): Promise<AuditRecord[]>;
  /** Decides in one transaction whether to remove an account, before any of its user's records are removed. */
  beginRemoval(accountId: string, at: number): Promise<AccountDecision>;
  /**
   * Deletes up to `limit` records of a user, who has no calls left: events, results of idempotent requests, tokens,
   * consents, and instances whose deletion has finished.
   * @returns true if records may remain
   */
  forgetUser(userId: string, limit: number): Promise<boolean>;
  /**
   * Deletes an account whose removal has begun, with its sessions, codes and consents, in one transaction with the
   * checks of {@link AccountRemoval}. Its user stays, so that the oldest user stays the oldest, and gets its id as its
   * name. Audit entries stay.
   */
  deleteAccount(id: string): Promise<AccountRemoval>;
}

/** A page of the audit log. */
export interface AuditPage {
  readonly limit: number;
  /** Entries older than this entry. */
  readonly after?: string | undefined;
}
