import type { Sha256 } from "../../base/sha256.ts";
import { AccountRefusal } from "../../domain/access/account-refusal.ts";
import { checkedEmail, emailOf } from "../../domain/access/email.ts";
import { checkedPassword } from "../../domain/access/password.ts";
import type { PasswordHasher } from "../../ports/password-hasher.ts";
import type { AccountRecord, CodeRecord, LoginStore, Storage, TokenRecord, UsedCode } from "../../ports/storage.ts";
import type { Vault } from "../encryption/vault.ts";
import { FIRST_USER, type IssuedToken } from "../tokens/tokens.ts";
import type { InstanceUseCases } from "../use-cases.ts";
import { AccountTokens, type AccountTokensParts, type TokenIssuer } from "./account-tokens.ts";
import type {
  Account,
  AccountSession,
  AccountUseCases,
  AuditEntry,
  Browser,
  Invitation,
  Login,
  NewAccountToken,
  NewSession,
  OneTimeCode,
  Registration,
  SignedIn,
} from "./account-use-cases.ts";
import { AuditLog, type AuditParts } from "./audit-log.ts";
import { Devices } from "./devices.ts";
import { Invitations } from "./invitations.ts";
import { type CodeParts, codeExpiry, firstCode, resetCode } from "./one-time-codes.ts";
import { Passwords } from "./passwords.ts";
import { hashOfSecret } from "./secrets.ts";
import { MAX_SESSIONS, newSession, Sessions } from "./sessions.ts";
import { SignInAttempts } from "./sign-in-attempts.ts";
import { eraseUser, type UserErasers } from "./user-erasure.ts";

/** Dependencies of {@link Accounts}. */
export interface AccountParts extends UserErasers, AccountTokensParts, AuditParts {
  readonly storage: Pick<Storage, "accounts" | "batches" | "instances" | "calls" | "logins" | "retention">;
  readonly instances: Pick<InstanceUseCases, "get" | "delete">;
  readonly tokens: TokenIssuer;
  readonly passwords: PasswordHasher;
  readonly registration: Registration;
  readonly sha256: Sha256;
  readonly vault: Pick<Vault, "signingKey">;
}

/** The use cases of accounts. */
export class Accounts implements AccountUseCases {
  readonly #parts: AccountParts;
  readonly #logins: LoginStore;
  readonly #sha256: Sha256;
  readonly #codeParts: CodeParts;
  readonly #passwords: Passwords;
  readonly #devices: Devices;
  readonly #sessions: Sessions;
  readonly #tokens: AccountTokens;
  readonly #audit: AuditLog;
  readonly #invitations: Invitations;

  constructor(parts: AccountParts) {
    const { passwords, system, ids, sha256 } = parts;
    const { logins } = parts.storage;
    this.#parts = parts;
    this.#logins = logins;
    this.#sha256 = sha256;
    this.#codeParts = { logins, system, ids, sha256 };
    this.#passwords = new Passwords(passwords, logins, new SignInAttempts(system));
    this.#devices = new Devices(parts.vault, system, sha256);
    this.#sessions = new Sessions(logins, system, ids, sha256);
    this.#tokens = new AccountTokens(parts);
    this.#audit = new AuditLog(parts);
    this.#invitations = new Invitations(this.#codeParts, this.#audit);
  }

  async registration(): Promise<"first" | Registration> {
    return (await this.#logins.hasAdmin()) ? this.#parts.registration : "first";
  }

  firstCode(): Promise<OneTimeCode | undefined> {
    return firstCode(this.#codeParts);
  }

  async register(person: Login & { readonly code?: string | undefined }, browser: Browser): Promise<NewSession> {
    const { ids, system } = this.#parts;
    const email = checkedEmail(person.email);
    const registration = await this.registration();
    const code = registration === "open" ? undefined : await this.#registrationCode(registration, person.code);
    const password = checkedPassword(person.password, email);
    // Only for people with a code: the error reveals whether an address is taken.
    if (await this.#logins.accountByEmail(email)) throw emailTaken();
    const passwordHash = await this.#passwords.hash(password, code ? "known" : "stranger");
    const createdAt = system.now();
    const id = ids("acct");
    const role = registration === "first" ? "admin" : "member";
    const session = await this.#sessions.make(id, browser);
    const result = await this.#logins.register({
      account: { id, email, passwordHash, role, createdAt },
      session: session.record,
      user: { id: ids("usr"), name: email, createdAt },
      takesOver: role === "admin" ? FIRST_USER : undefined,
      code,
    });
    if (result.kind === "email_taken") throw emailTaken();
    if (result.kind === "admin_exists")
      throw new AccountRefusal("registration_closed", "the first account was registered in the meantime");
    if (result.kind === "admin_leaving")
      throw new AccountRefusal("registration_closed", "the administrator's account is being deleted; try again later");
    if (result.kind === "code_invalid") throw codeInvalid();
    await this.#audit.note(result.account, "account.registered", null);
    return newSession(result.account, session);
  }

  async signIn({ email, password }: Login, browser: Browser): Promise<NewSession> {
    const { account, throttledAccount } = await this.#passwords.trySignIn(
      email,
      password,
      await this.#deviceOf(email, browser),
    );
    // Not awaited: the response time must not reveal whether there is an account.
    if (throttledAccount) void this.#audit.note(throttledAccount, "account.sign_in_slowed_down", null);
    if (!account) throw signInFailed();
    const session = await this.#sessions.make(account.id, browser);
    if (!(await this.#logins.insertSession(session.record, account.passwordHash, MAX_SESSIONS))) throw signInFailed();
    this.#cleanUpAfterSignIn(account, password);
    await this.#audit.note(account, "account.signed_in", session.record.id);
    return newSession(account, session);
  }

  session(secret: string): Promise<SignedIn | undefined> {
    return this.#sessions.find(secret);
  }

  async signOut(secret: string): Promise<void> {
    const endedSession = await this.#sessions.signOut(secret);
    if (endedSession) await this.#audit.note(endedSession.account, "account.signed_out", endedSession.session.id);
  }

  async deviceMark(
    { account: { id }, session }: SignedIn,
    currentMark: string | undefined,
  ): Promise<string | undefined> {
    const account = await this.#logins.account(id);
    if (!account || (await this.#devices.find(currentMark, account)) !== undefined) return undefined;
    return this.#devices.issue(account, session.id);
  }

  sessions(account: Account): Promise<AccountSession[]> {
    return this.#sessions.list(account);
  }

  async endSession(account: Account, sessionId: string): Promise<void> {
    await this.#sessions.end(account, sessionId);
    await this.#audit.note(account, "session.ended", sessionId);
  }

  async changePassword(
    { id, email }: Account,
    { current, next }: { readonly current: string; readonly next: string },
    browser: Browser,
  ): Promise<NewSession> {
    const password = checkedPassword(next, email);
    const account = await this.#passwords.confirm(id, current);
    return this.#setPassword(account, password, { passwordHash: account.passwordHash }, browser, () => {
      return new AccountRefusal("password_wrong", "the password was changed in the meantime; sign in again");
    });
  }

  async resetCode(email: string): Promise<OneTimeCode | undefined> {
    const oneTimeCode = await resetCode(this.#codeParts, email);
    return oneTimeCode && { code: oneTimeCode.code, expiresAt: oneTimeCode.expiresAt };
  }

  async resetPassword(code: string, password: string, browser: Browser): Promise<NewSession> {
    const usedCode = await this.#code("reset", code);
    const account = usedCode?.accountId ? await this.#logins.account(usedCode.accountId) : undefined;
    if (!usedCode || !account) throw codeInvalid();
    return this.#setPassword(account, checkedPassword(password, account.email), usedCode, browser, codeInvalid);
  }

  async delete({ id }: Account, password: string): Promise<void> {
    const { storage, system, log } = this.#parts;
    const account = await this.#passwords.confirm(id, password);
    if ((await this.#logins.beginRemoval(id, system.now())) === "last_admin") throw lastAdmin();
    // Repeated if another browser or program has created something in the meantime.
    do await eraseUser(this.#parts, account.userId);
    while ((await this.#logins.deleteAccount(id)) === "not_empty");
    this.#passwords.forgetFailures(account);
    await this.#audit.note(account, "account.deleted", id);
    await storage.retention.scrub({ thorough: false }).catch((error: unknown) => {
      log.warn({ err: error }, "traces of a deleted account may be left in the database files");
    });
  }

  invite(account: Account): Promise<Invitation & OneTimeCode> {
    return this.#invitations.create(account);
  }

  invitations(account: Account): Promise<Invitation[]> {
    return this.#invitations.list(account);
  }

  withdrawInvitation(account: Account, invitationId: string): Promise<void> {
    return this.#invitations.withdraw(account, invitationId);
  }

  tokens(account: Account): Promise<TokenRecord[]> {
    return this.#tokens.list(account);
  }

  async createToken(account: Account, token: NewAccountToken): Promise<IssuedToken> {
    const issuedToken = await this.#tokens.create(account, token);
    await this.#audit.note(account, "token.created", issuedToken.id);
    return issuedToken;
  }

  async revokeToken(account: Account, tokenId: string): Promise<void> {
    await this.#tokens.revoke(account, tokenId);
    await this.#audit.note(account, "token.revoked", tokenId);
  }

  note(account: Account, action: string, subject: string | null): Promise<void> {
    return this.#audit.note(account, action, subject);
  }

  audit(account: Account, page: { readonly after?: string | undefined } = {}): Promise<AuditEntry[]> {
    return this.#audit.list(account, page);
  }

  async #setPassword(
    account: AccountRecord,
    password: string,
    proof: UsedCode | { readonly passwordHash: string },
    browser: Browser,
    refusal: () => AccountRefusal,
  ): Promise<NewSession> {
    const passwordHash = await this.#passwords.hash(password, "known");
    const session = await this.#sessions.make(account.id, browser);
    if (!(await this.#logins.changePassword(session.record, passwordHash, proof))) throw refusal();
    this.#passwords.forgetFailures(account);
    const action = "passwordHash" in proof ? "account.password_changed" : "account.password_reset";
    await this.#audit.note(account, action, null);
    return newSession(account, session);
  }

  /** @throws {AccountRefusal} `registration_closed`: there is no code; `code_invalid` */
  async #registrationCode(purpose: "first" | "invitation", input: string | undefined): Promise<UsedCode> {
    if (!input)
      throw new AccountRefusal(
        "registration_closed",
        purpose === "first"
          ? "the first account needs the code of the first start: ringport account code prints it"
          : "an account needs an invitation: ask the administrator of this server for one",
      );
    const usedCode = await this.#code(purpose, input);
    if (!usedCode) throw codeInvalid();
    return usedCode;
  }

  async #deviceOf(email: unknown, { device }: Browser): Promise<string | undefined> {
    const address = emailOf(email);
    if (address === undefined || device === undefined) return undefined;
    const account = await this.#logins.accountByEmail(address);
    return this.#devices.find(device, account ?? { email: address, passwordHash: "" }); // takes as long as for an account
  }

  /** A code that is currently valid for its purpose; undefined for any other code. */
  async #code(
    purpose: UsedCode["purpose"],
    input: string,
  ): Promise<(UsedCode & Pick<CodeRecord, "accountId">) | undefined> {
    const now = this.#parts.system.now();
    const hash = await hashOfSecret(input, this.#sha256);
    const storedCode = hash === undefined ? undefined : await this.#logins.codeByHash(hash);
    if (storedCode?.purpose !== purpose || codeExpiry(storedCode, now) <= now) return undefined;
    return { hash: storedCode.hash, purpose, now, accountId: storedCode.accountId };
  }

  /** Schedules the work after a sign-in: no request waits for it, and if it fails, the next sign-in repeats it. */
  #cleanUpAfterSignIn(account: AccountRecord, password: string): void {
    const { purgeClock } = this.#parts;
    this.#passwords.strengthen(account, password).catch(() => {});
    this.#logins.forgetExpired(purgeClock.now()).catch(() => {});
  }
}

function signInFailed(): AccountRefusal {
  return new AccountRefusal("sign_in_failed", "the email address or the password is wrong");
}

function emailTaken(): AccountRefusal {
  return new AccountRefusal("email_taken", "there is an account with this email address; sign in instead");
}

function lastAdmin(): AccountRefusal {
  return new AccountRefusal(
    "last_admin",
    "the administrator's account cannot be deleted while other people have accounts",
  );
}

function codeInvalid(): AccountRefusal {
  return new AccountRefusal("code_invalid", "the code is wrong, was used, or has expired; ask for a new one");
}
