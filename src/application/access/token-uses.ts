import type { AccountStore, TokenRecord } from "../../ports/storage.ts";
import type { System } from "../../ports/system.ts";

/** How exactly the last use of a token is known, ms. */
const EVERY_MS = 60_000;

/** Notes in the storage when tokens were last used. No request waits for it, and nothing is lost if it fails. */
export class TokenUses {
  readonly #accounts: AccountStore;
  readonly #system: System;
  /** Tokens of which a use is being stored. */
  readonly #storing = new Set<string>();

  constructor(accounts: AccountStore, system: System) {
    this.#accounts = accounts;
    this.#system = system;
  }

  /** Notes that a token, as it was just read, is being used. */
  note({ id, lastUsedAt }: Pick<TokenRecord, "id" | "lastUsedAt">): void {
    const now = this.#system.now();
    if ((lastUsedAt !== null && now - lastUsedAt < EVERY_MS) || this.#storing.has(id)) return;
    this.#storing.add(id);
    void this.#accounts
      .markUsed(id, now)
      .catch(() => {})
      .finally(() => this.#storing.delete(id));
  }
}
