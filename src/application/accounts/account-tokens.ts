import { AccountRefusal } from "../../domain/access/account-refusal.ts";
import { isVisible } from "../../domain/input/visible-text.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Storage, TokenRecord } from "../../ports/storage.ts";
import type { System } from "../../ports/system.ts";
import type { IssuedToken, TokenOfAccount } from "../tokens/tokens.ts";
import type { InstanceUseCases } from "../use-cases.ts";
import type { Account, NewAccountToken } from "./account-use-cases.ts";
import { principalOf } from "./sessions.ts";

/** Maximum length of a token's name, characters. */
const LABEL_LENGTH = 120;

/** Issues and revokes users' tokens. */
export interface TokenIssuer {
  /** @throws {AccountRefusal} `token_quota`, or `token_invalid`: the account is deleted */
  issue(token: TokenOfAccount): Promise<IssuedToken>;
  revoke(tokenId: string): Promise<boolean>;
}

/** Dependencies of {@link AccountTokens}. */
export interface AccountTokensParts {
  readonly storage: Pick<Storage, "accounts">;
  readonly system: System;
  readonly instances: Pick<InstanceUseCases, "get">;
  readonly tokens: TokenIssuer;
}

/** The tokens of accounts. */
export class AccountTokens {
  readonly #parts: AccountTokensParts;

  constructor(parts: AccountTokensParts) {
    this.#parts = parts;
  }

  async list({ userId }: Account): Promise<TokenRecord[]> {
    const tokens = await this.#parts.storage.accounts.tokens(userId);
    return tokens.filter(({ revokedAt }) => revokedAt === null).toReversed();
  }

  /** @throws {AccountRefusal} `token_invalid`, `token_quota`, `instance_not_found` */
  async create(account: Account, { label, scopes, expiresAt, demoInstanceId }: NewAccountToken): Promise<IssuedToken> {
    const { system, instances, tokens } = this.#parts;
    const { id: accountId, userId } = account;
    const principal = principalOf(account);
    const name = checkedLabel(label);
    if (expiresAt !== undefined && !(Number.isSafeInteger(expiresAt) && expiresAt > system.now()))
      throw new AccountRefusal("token_invalid", "the time of expiry must be in the future");
    if (demoInstanceId !== undefined)
      await instances.get(principal, demoInstanceId).catch((cause: unknown) => {
        if (!(cause instanceof Refusal)) throw cause;
        throw new AccountRefusal("instance_not_found", cause.message, { cause });
      });
    try {
      const options = { accountId, userId, label: name, scopes, expiresAt, demoInstanceId, issuer: principal };
      return await tokens.issue(options);
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw new AccountRefusal("token_invalid", cause.message, { cause });
    }
  }

  /** @throws {AccountRefusal} `token_not_found` */
  async revoke({ userId }: Account, tokenId: string): Promise<void> {
    const { accounts } = this.#parts.storage;
    const isOwn = (await accounts.tokens(userId)).some(({ id }) => id === tokenId);
    if (!isOwn || !(await this.#parts.tokens.revoke(tokenId)))
      throw new AccountRefusal("token_not_found", `you have no token "${tokenId.slice(0, 64)}"`);
  }
}

/** @throws {AccountRefusal} `token_invalid` */
function checkedLabel(input: unknown): string {
  const label = typeof input === "string" ? input.trim() : "";
  if (isVisible(label) && label.length <= LABEL_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(label)) return label;
  throw new AccountRefusal(
    "token_invalid",
    `the name of a token must have 1 to ${LABEL_LENGTH} characters, at least one of them visible`,
  );
}
