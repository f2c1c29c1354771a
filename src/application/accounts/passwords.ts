import { AccountRefusal } from "../../domain/access/account-refusal.ts";
import { emailKey } from "../../domain/access/email.ts";
import { passwordOf } from "../../domain/access/password.ts";
import { HasherBusy, type HashTurn, type PasswordHasher } from "../../ports/password-hasher.ts";
import type { AccountRecord, LoginStore } from "../../ports/storage.ts";
import type { SignInAttempts } from "./sign-in-attempts.ts";

/** Approximate time until a busy hasher is free again, ms. */
const BUSY_MS = 3_000;
/** Maximum length of a counted name, characters: no account has a longer address. */
const NAME_LENGTH = 254;

/** Result of trying a password. */
interface PasswordCheck {
  /** The account, if the password is correct. */
  readonly account: AccountRecord | undefined;
  /** The account that must now wait because of this failure. */
  readonly throttledAccount: AccountRecord | undefined;
}

/** Checks passwords; each failed guess slows down the next. */
export class Passwords {
  readonly #hasher: PasswordHasher;
  readonly #logins: LoginStore;
  readonly #attempts: SignInAttempts;
  /** Accounts with a known browser whose password is being verified: each gets one turn ahead of strangers. */
  readonly #prioritizedKeys = new Set<string>();

  constructor(hasher: PasswordHasher, logins: LoginStore, attempts: SignInAttempts) {
    this.#hasher = hasher;
    this.#logins = logins;
    this.#attempts = attempts;
  }

  /** @throws {AccountRefusal} `too_many_attempts`: too many passwords are being hashed */
  async hash(password: string, turn: HashTurn): Promise<string> {
    return refuseIfBusy(this.#hasher.hash(password, turn));
  }

  /**
   * Tries the password of an address, whether or not an account has it: both cases compute one hash.
   * @param device a browser that has signed in to this account; its failures are counted separately from those of
   *   strangers
   * @throws {AccountRefusal} `too_many_attempts`
   */
  async trySignIn(email: unknown, password: unknown, device?: string): Promise<PasswordCheck> {
    const address = typeof email === "string" ? email.trim().slice(0, NAME_LENGTH) : "";
    const key = emailKey(address);
    const name = device === undefined ? emailName(key) : `device ${device}`;
    const find = () => this.#logins.accountByEmail(storable(address));
    if (device === undefined || this.#prioritizedKeys.has(key)) return this.#verify(name, password, "stranger", find);
    this.#prioritizedKeys.add(key);
    return this.#verify(name, password, "known", find).finally(() => this.#prioritizedKeys.delete(key));
  }

  /**
   * Tries the password of a person who is signed in. Failures are counted separately, so strangers who guess at the
   * sign-in cannot lock this person out.
   * @throws {AccountRefusal} `too_many_attempts`, `password_wrong`
   */
  async confirm(accountId: string, password: unknown): Promise<AccountRecord> {
    const { account } = await this.#verify(accountName(accountId), password, "known", () =>
      this.#logins.account(accountId),
    );
    if (!account) throw new AccountRefusal("password_wrong", "the password is wrong");
    return account;
  }

  /** Upgrades the stored hash of a correct password to the current strength. */
  async strengthen({ id, passwordHash }: AccountRecord, password: unknown): Promise<void> {
    const text = passwordOf(password);
    if (text === undefined || !this.#hasher.isOutdated(passwordHash)) return;
    await this.#logins.rehash(id, passwordHash, await this.#hasher.hash(text, "stranger"));
  }

  /** Forgets the failures of an account that has a new password or has been deleted. */
  forgetFailures({ id, email }: AccountRecord): void {
    this.#attempts.forget(accountName(id));
    this.#attempts.forget(emailName(emailKey(email)));
  }

  async #verify(
    name: string,
    password: unknown,
    turn: HashTurn,
    find: () => Promise<AccountRecord | undefined>,
  ): Promise<PasswordCheck> {
    const attempt = this.#attempts.begin(name);
    try {
      const account = await find();
      // No account has an empty password; it takes as long as any other.
      const isCorrect = await refuseIfBusy(
        this.#hasher.verify(passwordOf(password) ?? "", account?.passwordHash, turn),
      );
      if (!isCorrect) return { account: undefined, throttledAccount: attempt.fail() ? account : undefined };
      attempt.succeed();
      return { account, throttledAccount: undefined };
    } catch (error) {
      attempt.withdraw();
      throw error;
    }
  }
}

/** Names under which attempts are counted. The prefixes keep a typed address from matching an account's id. */
const emailName = (key: string): string => `email ${key}`;
const accountName = (id: string): string => `account ${id}`;

/** The text, or "" if a database might reject it. */
function storable(text: string): string {
  return /[\0\p{Cs}]/u.test(text) ? "" : text;
}

async function refuseIfBusy<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof HasherBusy)) throw cause;
    throw new AccountRefusal("too_many_attempts", "too many people are signing in; try again in a few seconds", {
      retryAfterMs: BUSY_MS,
      cause,
    });
  }
}
