import type {
  Account,
  AccountSession,
  AccountUseCases,
  AuditEntry,
  Invitation,
  NewSession,
  Browser as RequestingBrowser,
  SignedIn,
} from "../../../src/application/accounts/account-use-cases.ts";
import type { IssuedToken } from "../../../src/application/tokens/tokens.ts";
import { AccountRefusal, type AccountRefusalCode } from "../../../src/domain/access/account-refusal.ts";
import type { System } from "../../../src/ports/system.ts";

const DAY_MS = 86_400_000;
export const FIRST_CODE = "first-code";
export const PASSWORD = "correct horse battery";

interface StoredAccount {
  readonly account: Account;
  password: string;
}

/** Accounts in memory, without hashing, limits and storage; the use cases have separate tests. */
export class FakeAccounts implements AccountUseCases {
  readonly auditNotes: { accountId: string; action: string; subject: string | null }[] = [];
  /** Browser mark of each sign-in. */
  readonly devices: (string | undefined)[] = [];
  /** Every call with its account. */
  readonly calls: { method: string; account: string }[] = [];
  readonly #system: Pick<System, "now">;
  readonly #accounts: StoredAccount[] = [];
  readonly #sessions = new Map<string, SignedIn>();
  readonly #invitations = new Map<string, Invitation & { code: string }>();
  readonly #tokens: IssuedToken[] = [];
  #idCount = 0;

  constructor(system: Pick<System, "now">) {
    this.#system = system;
  }

  async registration(): Promise<"first" | "invitation"> {
    return this.#accounts.length === 0 ? "first" : "invitation";
  }

  async firstCode() {
    return this.#accounts.length === 0 ? { code: FIRST_CODE, expiresAt: this.#system.now() + DAY_MS } : undefined;
  }

  async register(person: { email: string; password: string; code?: string | undefined }): Promise<NewSession> {
    const isFirst = this.#accounts.length === 0;
    const invitation = [...this.#invitations.values()].find(({ code }) => code === person.code);
    if (isFirst ? person.code !== FIRST_CODE : !invitation) throw refusal("code_invalid");
    if (!person.email.includes("@")) throw refusal("email_invalid");
    if (invitation) this.#invitations.delete(invitation.id);
    const id = this.#id("acct");
    const role = isFirst ? "admin" : "member";
    const account: Account = { id, userId: `usr_${id}`, email: person.email, role, createdAt: this.#system.now() };
    this.#accounts.push({ account, password: person.password });
    return this.#begin(account, null);
  }

  async deviceMark({ account }: SignedIn, currentMark: string | undefined) {
    const mark = `device-of-${account.id}`;
    return currentMark === mark ? undefined : mark;
  }

  async signIn(login: { email: string; password: string }, { userAgent, device }: RequestingBrowser) {
    this.devices.push(device);
    const storedAccount = this.#accounts.find(({ account }) => account.email === login.email);
    if (storedAccount?.password !== login.password) throw refusal("sign_in_failed");
    return this.#begin(storedAccount.account, userAgent);
  }

  async session(secret: string): Promise<SignedIn | undefined> {
    const storedSession = this.#sessions.get(secret);
    return storedSession && storedSession.session.expiresAt > this.#system.now() ? storedSession : undefined;
  }

  async signOut(secret: string): Promise<void> {
    this.#sessions.delete(secret);
  }

  async sessions(account: Account): Promise<AccountSession[]> {
    this.#recordCall("sessions", account);
    return this.#sessionsOf(account).map(([, { session }]) => session);
  }

  async endSession(account: Account, sessionId: string): Promise<void> {
    const entry = this.#sessionsOf(account).find(([, { session }]) => session.id === sessionId);
    if (!entry) throw refusal("session_not_found");
    this.#sessions.delete(entry[0]);
  }

  async changePassword(account: Account, { current, next }: { current: string; next: string }) {
    this.#confirm(account, current).password = next;
    for (const [secret] of this.#sessionsOf(account)) this.#sessions.delete(secret);
    return this.#begin(account, null);
  }

  async resetCode() {
    return undefined;
  }

  async resetPassword(): Promise<NewSession> {
    throw refusal("code_invalid");
  }

  async delete(account: Account, password: string): Promise<void> {
    const storedAccount = this.#confirm(account, password);
    this.#accounts.splice(this.#accounts.indexOf(storedAccount), 1);
    for (const [secret] of this.#sessionsOf(account)) this.#sessions.delete(secret);
  }

  async invite(account: Account) {
    requireAdmin(account);
    const now = this.#system.now();
    const invitation = {
      id: this.#id("code"),
      code: this.#id("invitation"),
      createdAt: now,
      expiresAt: now + 7 * DAY_MS,
    };
    this.#invitations.set(invitation.id, invitation);
    return invitation;
  }

  async invitations(account: Account): Promise<Invitation[]> {
    requireAdmin(account);
    return [...this.#invitations.values()];
  }

  async withdrawInvitation(account: Account, invitationId: string): Promise<void> {
    requireAdmin(account);
    if (!this.#invitations.delete(invitationId)) throw refusal("invitation_not_found");
  }

  async tokens(account: Account) {
    this.#recordCall("tokens", account);
    return this.#tokens.filter(({ userId }) => userId === account.userId);
  }

  async createToken(account: Account, input: Parameters<AccountUseCases["createToken"]>[1]): Promise<IssuedToken> {
    if (input.label === "") throw refusal("token_invalid");
    const id = this.#id("tok");
    const token: IssuedToken = {
      id,
      userId: account.userId,
      label: input.label,
      token: `rp_live_${id}`,
      hash: "0".repeat(64),
      demoInstanceId: input.demoInstanceId ?? null,
      allowedPrefixes: null,
      maxCallsPerDay: null,
      scopes: input.scopes ?? null,
      createdAt: this.#system.now(),
      expiresAt: input.expiresAt ?? null,
      revokedAt: null,
      lastUsedAt: null,
    };
    this.#tokens.push(token);
    return token;
  }

  async revokeToken(account: Account, tokenId: string): Promise<void> {
    const at = this.#tokens.findIndex(({ id, userId }) => id === tokenId && userId === account.userId);
    if (at < 0) throw refusal("token_not_found");
    this.#tokens.splice(at, 1);
  }

  async note({ id: accountId }: Account, action: string, subject: string | null): Promise<void> {
    this.auditNotes.push({ accountId, action, subject });
  }

  async audit(account: Account): Promise<AuditEntry[]> {
    this.#recordCall("audit", account);
    return this.auditNotes.map(({ accountId, action, subject }, at) => ({
      id: `aud_${at}`,
      at: this.#system.now(),
      accountId,
      email: account.email,
      action,
      subject,
    }));
  }

  #begin(account: Account, userAgent: string | null): NewSession {
    const now = this.#system.now();
    const session = { id: this.#id("ses"), createdAt: now, lastUsedAt: now, expiresAt: now + 14 * DAY_MS, userAgent };
    const secret = this.#id("secret");
    const signedIn = { account, session, principal: { userId: account.userId } };
    this.#sessions.set(secret, signedIn);
    return { ...signedIn, secret };
  }

  #confirm(account: Account, password: string): StoredAccount {
    const storedAccount = this.#accounts.find((entry) => entry.account.id === account.id);
    if (storedAccount?.password !== password) throw refusal("password_wrong");
    return storedAccount;
  }

  #sessionsOf(account: Account): [string, SignedIn][] {
    return [...this.#sessions].filter(([, signedIn]) => signedIn.account.id === account.id);
  }

  #recordCall(method: string, { id }: Account): void {
    this.calls.push({ method, account: id });
  }

  #id(prefix: string): string {
    return `${prefix}_${++this.#idCount}`;
  }
}

function requireAdmin({ role }: Account): void {
  if (role !== "admin") throw refusal("admin_required");
}

export function refusal(code: AccountRefusalCode): AccountRefusal {
  return new AccountRefusal(code, `refused: ${code}`);
}
