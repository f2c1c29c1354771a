import type { IdSource } from "../../base/ids.ts";
import type { Sha256 } from "../../base/sha256.ts";
import { AccountRefusal } from "../../domain/access/account-refusal.ts";
import type { Principal } from "../../domain/access/principal.ts";
import type { AccountRecord, LoginStore, SessionRecord } from "../../ports/storage.ts";
import type { System } from "../../ports/system.ts";
import { MAX_AHEAD_MS, storedTime } from "../stored-times.ts";
import type { Account, AccountSession, Browser, NewSession, SignedIn } from "./account-use-cases.ts";
import { hashOfSecret, makeSecret } from "./secrets.ts";

/** Time without use after which a session ends, ms. */
const IDLE_MS = MAX_AHEAD_MS["account_sessions.expires_at"];
/** Time after the sign-in at which a session ends even if it is in use, ms. */
const MAX_AGE_MS = 90 * 24 * 60 * 60_000;
/** Minimum time between two records of a session's use, ms. */
const USE_RECORD_INTERVAL_MS = 60_000;
const USER_AGENT_LENGTH = 200;
/** Maximum number of sessions of one account; a further sign-in ends the oldest. */
export const MAX_SESSIONS = 100;

/** A session that is not stored yet, with its secret. */
export interface UnstoredSession {
  readonly record: SessionRecord;
  readonly secret: string;
}

/** The sessions of signed-in browsers. */
export class Sessions {
  readonly #logins: LoginStore;
  readonly #system: System;
  readonly #ids: IdSource;
  readonly #sha256: Sha256;

  constructor(logins: LoginStore, system: System, ids: IdSource, sha256: Sha256) {
    this.#logins = logins;
    this.#system = system;
    this.#ids = ids;
    this.#sha256 = sha256;
  }

  /** A new session; the caller stores it. */
  async make(accountId: string, { userAgent }: Browser): Promise<UnstoredSession> {
    const { secret, hash } = await makeSecret(this.#system, this.#sha256);
    const now = this.#system.now();
    const record: SessionRecord = {
      id: this.#ids("ses"),
      accountId,
      hash,
      createdAt: now,
      lastUsedAt: now,
      expiresAt: now + IDLE_MS,
      userAgent: userAgent === null ? null : userAgent.slice(0, USER_AGENT_LENGTH),
    };
    return { record, secret };
  }

  /** The session of a secret. Once a minute its use is recorded and its expiry extended; no request waits for that. */
  async find(secret: string): Promise<SignedIn | undefined> {
    const hash = await hashOfSecret(secret, this.#sha256);
    const storedSession = hash === undefined ? undefined : await this.#logins.sessionByHash(hash);
    const now = this.#system.now();
    if (!storedSession) return undefined;
    const { account } = storedSession;
    const session = withEffectiveTimes(storedSession.session, now);
    if (session.expiresAt <= now) return undefined;
    if (now - session.lastUsedAt < USE_RECORD_INTERVAL_MS) return signedIn(account, session);
    const expiresAt = Math.min(now + IDLE_MS, session.createdAt + MAX_AGE_MS);
    this.#logins.prolongSession(session.id, now, expiresAt).catch(() => {}); // the next use prolongs it
    return signedIn(account, { ...session, lastUsedAt: now, expiresAt });
  }

  async list(account: Account): Promise<AccountSession[]> {
    const sessions = await this.#logins.sessions(account.id);
    const now = this.#system.now();
    return sessions
      .map((session) => withEffectiveTimes(session, now))
      .filter(({ expiresAt }) => expiresAt > now)
      .map(sessionOf);
  }

  /** Ends the session of a secret; returns its account. */
  async signOut(secret: string): Promise<SignedIn | undefined> {
    const current = await this.find(secret);
    return current && (await this.#logins.deleteSession(current.account.id, current.session.id)) ? current : undefined;
  }

  /** @throws {AccountRefusal} `session_not_found` */
  async end(account: Account, sessionId: string): Promise<void> {
    const exists = (await this.#logins.sessions(account.id)).some(({ id }) => id === sessionId);
    if (!exists || !(await this.#logins.deleteSession(account.id, sessionId)))
      throw new AccountRefusal("session_not_found", `you have no session "${sessionId.slice(0, 64)}"`);
  }
}

/** The session as sent to its browser. */
export function newSession(account: AccountRecord, { record, secret }: UnstoredSession): NewSession {
  return { ...signedIn(account, record), secret };
}

function signedIn(account: AccountRecord, session: SessionRecord): SignedIn {
  return { account: accountOf(account), session: sessionOf(session), principal: principalOf(account) };
}

/**
 * The principal of an account, with every right to its own records. The user's id takes the place of a token's, so the
 * server's daily limit counts the calls of all their browsers together.
 */
export function principalOf({ userId }: Pick<Account, "userId">): Principal {
  return { userId, tokenId: userId };
}

/** An account without its password's hash. */
export function accountOf({ id, userId, email, role, createdAt }: AccountRecord): Account {
  return { id, userId, email, role, createdAt };
}

/** A stored session with its effective times. */
function withEffectiveTimes(session: SessionRecord, now: number): SessionRecord {
  return {
    ...session,
    createdAt: storedTime("account_sessions.created_at", session.createdAt, now),
    lastUsedAt: storedTime("account_sessions.last_used_at", session.lastUsedAt, now),
    expiresAt: storedTime("account_sessions.expires_at", session.expiresAt, now),
  };
}

function sessionOf({ id, createdAt, lastUsedAt, expiresAt, userAgent }: SessionRecord): AccountSession {
  return { id, createdAt, lastUsedAt, expiresAt, userAgent };
}
