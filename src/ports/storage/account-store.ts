import type { TokenScope } from "../../domain/access/token-scope.ts";

/** An owner of instances and calls. Times are ms since 1970-01-01 UTC. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

/** A stored token, of which only the hash is kept. */
export interface TokenRecord {
  readonly id: string;
  readonly userId: string;
  /** The user's own name for it. */
  readonly label: string;
  /** SHA-256 of the token, lower-case hex. */
  readonly hash: string;
  /** Set for a demo token: the only instance it may use. */
  readonly demoInstanceId: string | null;
  /** Prefixes of the numbers it may call; null: every number. */
  readonly allowedPrefixes: readonly string[] | null;
  /** Maximum number of calls that may be created with it within 24 hours; null: unlimited. */
  readonly maxCallsPerDay: number | null;
  /** Permissions; null: all. */
  readonly scopes: readonly TokenScope[] | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Time of its last use, as recorded by {@link AccountStore.markUsed}; null: never. */
  readonly lastUsedAt: number | null;
}

/**
 * Result of storing a new token; it is stored only if the result is `inserted`.
 * - `at_limit`: the user of the account already has the maximum number of tokens that are not revoked.
 */
export type TokenInsertion = "inserted" | "account_deleted" | "at_limit";

/** Users and their tokens. */
export interface AccountStore {
  /** Inserts the user unless a user with that name exists; returns the stored user. */
  ensureUser(user: User): Promise<User>;
  userByName(name: string): Promise<User | undefined>;
  /** All users, oldest first; at most `limit`. */
  users(limit?: number): Promise<User[]>;
  /**
   * Stores a token, and deletes the oldest revoked tokens of its account beyond a limit.
   * @param account the account that creates it, and the limit for its user's valid tokens and, separately, for the
   *   revoked tokens
   */
  insertToken(token: TokenRecord, account?: { readonly id: string; readonly most: number }): Promise<TokenInsertion>;
  /** One look-up on a unique index. Revoked and expired tokens are returned too. */
  tokenByHash(hash: string): Promise<TokenRecord | undefined>;
  /** The tokens with these hashes, in any order. Revoked and expired tokens are returned too. */
  tokensByHash(hashes: readonly string[]): Promise<TokenRecord[]>;
  /** The tokens of one user or of all users, oldest first. */
  tokens(userId?: string): Promise<TokenRecord[]>;
  /** Returns false if there is no such token, or if it has already been revoked. */
  revokeToken(id: string, at: number): Promise<boolean>;
  /** Records the use of a token; has no effect if there is no such token, or if a later use is already recorded. */
  markUsed(id: string, at: number): Promise<void>;
}
