import type { Guarded } from "../../application/port-guards/guarded.ts";
import type { Principal } from "../../domain/access/principal.ts";
import type { Authenticate } from "../../ports/authenticator.ts";
import type { Logger } from "../../ports/logger.ts";
import { StorageUnavailable } from "../../ports/storage.ts";
import type { System } from "../../ports/system.ts";

/** Interval between checks of connected clients' tokens, ms. */
export const TOKEN_CHECK_MS = 500;

/** Maximum number of concurrent checks of single tokens: requests have their own checks. */
export const MAX_CHECKS_AT_ONCE = 100;

/** Dependencies of {@link TokenWatches}. */
export interface TokenWatchesOptions {
  readonly authenticate: Guarded<Authenticate>;
  readonly system: System;
  readonly log: Logger;
}

/** The principals of the watched tokens, in the order of the tokens. */
type Principals = readonly (Principal | undefined)[];

/** A connected client. */
interface Watch {
  readonly token: string;
  /** The user of the token when the client connected. */
  readonly userId: string;
  readonly onRevoked: () => void;
}

/**
 * Checks the tokens of connected clients periodically: with one query for all of them if possible, otherwise in turns,
 * a limited number at a time. A check that fails or hangs revokes no token: its token is checked again, after the
 * others.
 */
export class TokenWatches {
  readonly #options: TokenWatchesOptions;
  readonly #watches = new Set<Watch>();
  /** Tokens whose check has not ended. */
  readonly #pendingTokens = new Set<string>();
  /** Tokens that wait for a separate check, in their order. */
  readonly #queuedTokens = new Set<string>();
  #singleCheckCount = 0;
  /** Tokens whose latest check failed: each is checked alone, so that it delays no other token. */
  readonly #suspectTokens = new Set<string>();
  #isScheduled = false;

  constructor(options: TokenWatchesOptions) {
    this.#options = options;
  }

  /**
   * Watches a token until the returned function is called. A caller without a token is not watched.
   * @param onRevoked called once, when the token has been revoked or has expired
   */
  watch(token: string | undefined, { userId }: Principal, onRevoked: () => void): () => void {
    if (token === undefined) return () => {};
    const watch = { token, userId, onRevoked };
    this.#watches.add(watch);
    if (!this.#isScheduled) this.#schedule();
    return () => void this.#watches.delete(watch);
  }

  #schedule(): void {
    this.#isScheduled = this.#watches.size > 0;
    if (this.#isScheduled) this.#checkLater();
    else for (const tokens of [this.#suspectTokens, this.#queuedTokens]) tokens.clear();
  }

  #checkLater(): void {
    this.#options.system.after(TOKEN_CHECK_MS, () => {
      try {
        this.#check();
      } finally {
        this.#schedule();
      }
    });
  }

  #check(): void {
    const watchedTokens = new Set([...this.#watches].map(({ token }) => token));
    for (const token of this.#queuedTokens) if (!watchedTokens.has(token)) this.#queuedTokens.delete(token);
    const tokens = [...watchedTokens].filter(
      (token) => !this.#pendingTokens.has(token) && !this.#queuedTokens.has(token),
    );
    const { authenticate } = this.#options;
    const needsOwnCheck = (token: string): boolean => !authenticate.all || this.#suspectTokens.has(token);
    const jointTokens = tokens.filter((token) => !needsOwnCheck(token));
    if (jointTokens.length > 0) void this.#checkAll(jointTokens);
    this.#checkEach(tokens.filter(needsOwnCheck));
  }

  /** Checks each token separately, after those already waiting. */
  #checkEach(tokens: readonly string[]): void {
    for (const token of tokens) this.#queuedTokens.add(token);
    for (const token of this.#queuedTokens) {
      if (this.#singleCheckCount >= MAX_CHECKS_AT_ONCE) return;
      this.#queuedTokens.delete(token);
      void this.#checkOne(token);
    }
  }

  async #checkAll(tokens: readonly string[]): Promise<void> {
    const { authenticate } = this.#options;
    const failure = await this.#decide(tokens, async () => authenticate.all?.(tokens));
    // One token may be the cause. If the storage is unavailable, single checks are pointless.
    if (failure !== undefined && !(failure instanceof StorageUnavailable)) this.#checkEach(tokens);
  }

  async #checkOne(token: string): Promise<void> {
    const { authenticate } = this.#options;
    this.#singleCheckCount++;
    const failure = await this.#decide([token], async () => [await authenticate(token)]);
    this.#singleCheckCount--;
    if (failure === undefined) this.#suspectTokens.delete(token);
    else this.#suspectTokens.add(token);
    this.#checkEach([]);
  }

  /** Revokes the invalid tokens. Returns the reason if the check fails; never rejects. */
  async #decide(tokens: readonly string[], lookUp: () => Promise<Principals | undefined>): Promise<unknown> {
    for (const token of tokens) this.#pendingTokens.add(token);
    try {
      const principals = await lookUp();
      this.#apply(new Map(tokens.map((token, index) => [token, principals?.[index]])));
      return undefined;
    } catch (error) {
      this.#options.log.warn({ err: error }, "the tokens of streams could not be checked");
      return error;
    } finally {
      for (const token of tokens) this.#pendingTokens.delete(token);
    }
  }

  #apply(principals: ReadonlyMap<string, Principal | undefined>): void {
    for (const watch of this.#watches) {
      if (!principals.has(watch.token) || principals.get(watch.token)?.userId === watch.userId) continue;
      this.#watches.delete(watch);
      try {
        watch.onRevoked();
      } catch (error) {
        this.#options.log.warn({ err: error }, "a client with a revoked token could not be disconnected");
      }
    }
  }
}
