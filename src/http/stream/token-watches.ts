import type { Principal } from "../../domain/principal.ts";
import type { Authenticate } from "../../ports/authenticator.ts";
import type { Logger } from "../../ports/logger.ts";
import type { System } from "../../ports/system.ts";

/** Interval between checks of the tokens of connected clients, ms. */
export const TOKEN_CHECK_MS = 500;

/** Dependencies of {@link TokenWatches}. */
export interface TokenWatchesOptions {
  readonly authenticate: Authenticate;
  readonly system: System;
  readonly log: Logger;
}

/** A connected client. */
interface Watch {
  readonly token: string;
  /** The user of the token when the client connected. */
  readonly userId: string;
  readonly revoked: () => void;
}

/** Checks the tokens of connected clients periodically, with one query for all of them. */
export class TokenWatches {
  readonly #options: TokenWatchesOptions;
  readonly #watches = new Set<Watch>();
  #isScheduled = false;

  constructor(options: TokenWatchesOptions) {
    this.#options = options;
  }

  /**
   * Watches a token until the returned function is called. A caller without one is not watched.
   * @param revoked called once, when the token has been revoked or has expired
   */
  watch(token: string | undefined, { userId }: Principal, revoked: () => void): () => void {
    if (token === undefined) return () => {};
    const watch = { token, userId, revoked };
    this.#watches.add(watch);
    if (!this.#isScheduled) this.#schedule();
    return () => void this.#watches.delete(watch);
  }

  #schedule(): void {
    this.#isScheduled = this.#watches.size > 0;
    if (this.#isScheduled)
      this.#options.system.after(TOKEN_CHECK_MS, () => void this.#check().then(() => this.#schedule()));
  }

  async #check(): Promise<void> {
    const watches = [...this.#watches];
    const tokens = [...new Set(watches.map(({ token }) => token))];
    const principals = await this.#principals(tokens);
    for (const watch of watches) {
      const principal = principals.get(watch.token);
      // If the storage is unavailable, the stream goes on.
      if (principal === "unknown" || principal?.userId === watch.userId) continue;
      if (this.#watches.delete(watch)) watch.revoked();
    }
  }

  async #principals(tokens: readonly string[]): Promise<Map<string, Principal | undefined | "unknown">> {
    const { authenticate, log } = this.#options;
    const unknown = (error: unknown): "unknown" => {
      log.warn({ err: error }, "the tokens of streams could not be checked");
      return "unknown";
    };
    const found = authenticate.all
      ? await authenticate.all(tokens).catch(unknown)
      : await Promise.all(tokens.map((token) => authenticate(token).catch(unknown)));
    return new Map(tokens.map((token, index) => [token, found === "unknown" ? found : found[index]]));
  }
}
