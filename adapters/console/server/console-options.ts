import type { Principal } from "../../../src/domain/access/principal.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import type { System } from "../../../src/ports/system.ts";
import type { RequestLike } from "../../../src/ports/web.ts";

/** Options of `withConsole`. All have a default. */
export interface ConsoleOptions {
  /** The sessions of the embedding program, in place of accounts of Ringport. Default: people register in the console. */
  readonly signIn?: ConsoleSignIn | undefined;
  /** Addresses of folders with the built pages, each ending in a slash. Default: the package's files. */
  readonly assets?: readonly string[] | undefined;
  /** Receives log messages for the operator. Default: silent. */
  readonly log?: Logger | undefined;
  /** Clock and randomness. Default: the real ones. */
  readonly system?: System | undefined;
}

/** Sign-in of the console if the embedding program signs people in. */
export interface ConsoleSignIn {
  /** The user of a request, by its cookie for example; undefined if no person is signed in. Called for every request that needs a user. */
  principal(request: RequestLike): Promise<Principal | undefined>;
  /** The page where people sign in. */
  readonly url: string;
}
