import type { TokenRecord } from "../../ports/storage.ts";
import type { System } from "../../ports/system.ts";

const MAX_TOKENS = 1_000;
/** Maximum time that a token is considered valid after it was last read from the storage, ms. */
const VALIDITY_MS = 10 * 60_000;

/** Valid tokens that were read recently: while the storage is unavailable, their users can still hang up. */
export class RecentTokens {
  readonly #system: System;
  readonly #byHash = new Map<string, { readonly token: TokenRecord; readonly readAt: number }>();

  constructor(system: System) {
    this.#system = system;
  }

  /** Stores the result of a look-up: the token, or undefined if no valid token has this hash. */
  recordLookUp(hash: string, token: TokenRecord | undefined): void {
    this.#byHash.delete(hash);
    if (!token) return;
    this.#byHash.set(hash, { token, readAt: this.#system.monotonic() });
    if (this.#byHash.size <= MAX_TOKENS) return;
    for (const oldest of this.#byHash.keys()) {
      this.#byHash.delete(oldest);
      return;
    }
  }

  /** Forgets a token that has been revoked. */
  forget(tokenId: string): void {
    for (const [hash, { token }] of this.#byHash) if (token.id === tokenId) this.#byHash.delete(hash);
  }

  /** The token as last read; undefined if that was too long ago. */
  find(hash: string): TokenRecord | undefined {
    const entry = this.#byHash.get(hash);
    return entry && this.#system.monotonic() - entry.readAt <= VALIDITY_MS ? entry.token : undefined;
  }
}
