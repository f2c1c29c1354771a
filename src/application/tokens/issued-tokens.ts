import type { IdSource } from "../../base/ids.ts";
import type { AccountStore, TokenRecord } from "../../ports/storage.ts";
import type { System } from "../../ports/system.ts";
import type { RecentTokens } from "./recent-tokens.ts";
import { type IssuedToken, issueFirstToken, issueToken, type NewToken, type TokenOfAccount } from "./tokens.ts";

/** Dependencies of {@link IssuedTokens}. */
export interface IssuedTokensParts {
  readonly accounts: AccountStore;
  readonly system: System;
  readonly ids: IdSource;
  readonly recentTokens: RecentTokens;
}

/** The tokens of the server: an embedding program and accounts issue, list and revoke them. */
export class IssuedTokens {
  readonly #parts: IssuedTokensParts;

  constructor(parts: IssuedTokensParts) {
    this.#parts = parts;
  }

  issue(token: NewToken | TokenOfAccount): Promise<IssuedToken> {
    const { accounts, system, ids } = this.#parts;
    return issueToken(accounts, system, ids, token);
  }

  first(token: NewToken): Promise<IssuedToken | undefined> {
    const { accounts, system, ids } = this.#parts;
    return issueFirstToken(accounts, system, ids, token);
  }

  list(): Promise<TokenRecord[]> {
    return this.#parts.accounts.tokens();
  }

  async revoke(tokenId: string): Promise<boolean> {
    const { accounts, system, recentTokens } = this.#parts;
    recentTokens.forget(tokenId);
    return accounts.revokeToken(tokenId, system.now());
  }
}
