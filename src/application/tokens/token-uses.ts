import type { AccountStore, TokenRecord } from "../../ports/storage.ts";
import type { System } from "../../ports/system.ts";

/** Minimum time between two writes for one token, ms. */
const MIN_INTERVAL_MS = 60_000;
/** Maximum number of tokens whose last write is remembered. */
const MAX_TOKENS = 10_000;

/** Stores when tokens were last used. No request waits for it; if a write fails, only the time is lost. */
export class TokenUses {
  readonly #accounts: AccountStore;
  readonly #system: System;
  /** Time of the latest write of each token's use, successful or not, oldest first; ms since 1970-01-01 UTC. */
  readonly #triedAt = new Map<string, number>();

  constructor(accounts: AccountStore, system: System) {
    this.#accounts = accounts;
    this.#system = system;
  }

  /** Records the use of a token that has just been read. Never throws. */
  recordUse({ id, lastUsedAt }: Pick<TokenRecord, "id" | "lastUsedAt">): void {
    const now = this.#system.now();
    const last = this.#triedAt.get(id) ?? lastUsedAt;
    if (last !== null && Math.abs(now - last) < MIN_INTERVAL_MS) return;
    this.#triedAt.delete(id);
    this.#triedAt.set(id, now);
    if (this.#triedAt.size > MAX_TOKENS) {
      const [oldest = ""] = this.#triedAt.keys();
      this.#triedAt.delete(oldest);
    }
    void this.#store(id, now);
  }

  async #store(id: string, at: number): Promise<void> {
    try {
      await this.#accounts.markUsed(id, at);
    } catch {
      // The next use after a minute is stored instead.
    }
  }
}
