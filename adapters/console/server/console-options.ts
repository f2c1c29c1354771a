import type { Principal } from "../../../src/domain/access/principal.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import type { System } from "../../../src/ports/system.ts";
import type { RequestLike } from "../../../src/ports/web.ts";

/** Options of `withConsole`. All have a default. */
export interface ConsoleOptions {
  /** The embedding program's sessions, in place of Ringport's accounts. Default: people register in the console. */
  readonly signIn?: ConsoleSignIn | undefined;
  /** URLs of folders with the built pages, each ending in a slash. Default: the package's files. */
  readonly assets?: readonly string[] | undefined;
  /** Receives log messages for the operator. Default: silent. */
  readonly log?: Logger | undefined;
  /** Clock and randomness. Default: the real ones. */
  readonly system?: System | undefined;
}

/** Console sign-in if the embedding program signs people in. */
export interface ConsoleSignIn {
  /**
   * Returns the user of a request, for example by its cookie; undefined if no one is signed in. Called for every
   * request that needs a user.
   */
  principal(request: RequestLike): Promise<Principal | undefined>;
  /** The page where people sign in. */
  readonly url: string;
}
