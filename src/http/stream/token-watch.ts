import type { Principal } from "../../domain/principal.ts";
import type { Authenticate } from "../../ports/authenticator.ts";
import type { Logger } from "../../ports/logger.ts";
import type { System } from "../../ports/system.ts";

/** How often the token of a connected client is looked at, ms. */
export const TOKEN_CHECK_MS = 5_000;

/** What a {@link TokenWatch} needs. */
export interface TokenWatchOptions {
  readonly token: string;
  /** Whose token it was when the client came. */
  readonly principal: Principal;
  readonly authenticate: Authenticate;
  readonly system: System;
  readonly log: Logger;
}

/** Looks again and again whether a token is still good, for a client that stays longer than one request. */
export class TokenWatch {
  readonly #options: TokenWatchOptions;
  readonly #revoked: () => void;
  #cancel: () => void = () => {};
  #stopped = false;

  /** @param revoked told once, when the token is not good any more */
  constructor(options: TokenWatchOptions, revoked: () => void) {
    this.#options = options;
    this.#revoked = revoked;
    this.#again();
  }

  /** Looks no more. */
  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #again(): void {
    this.#cancel = this.#options.system.after(TOKEN_CHECK_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const isGood = await this.#isGood();
    if (this.#stopped) return;
    if (isGood) this.#again();
    else this.#revoked();
  }

  async #isGood(): Promise<boolean> {
    const { authenticate, token, principal, log } = this.#options;
    try {
      return (await authenticate(token))?.userId === principal.userId;
    } catch (error) {
      // A storage that cannot tell has not said no.
      log.warn({ err: error }, "the token of a stream could not be checked");
      return true;
    }
  }
}
