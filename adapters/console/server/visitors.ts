import type { AccountUseCases, SignedIn } from "../../../src/application/accounts/account-use-cases.ts";
import type { Principal } from "../../../src/domain/access/principal.ts";
import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import type { ConsoleSignIn } from "./console-options.ts";
import { ConsoleRefusal } from "./problems.ts";
import type { SessionCookie } from "./session-cookie.ts";

/** A signed-in user. */
export interface Visitor {
  readonly principal: Principal;
  /** Undefined if the embedding program signs users in. */
  readonly signedIn?: SignedIn;
  /** True if the session has not ended. */
  isStillSignedIn(): Promise<boolean>;
}

/** Identifies the sender of a request. */
export interface Visitors {
  /** The signed-in user; undefined if there is none. */
  find(context: RequestContext): Promise<Visitor | undefined>;
  /** @throws {ConsoleRefusal} `unauthorized` */
  require(context: RequestContext): Promise<Visitor>;
}

/** @param signIn replaces the accounts' sessions */
export function visitors(
  accounts: AccountUseCases,
  cookie: SessionCookie,
  signIn: ConsoleSignIn | undefined,
): Visitors {
  async function find(context: RequestContext): Promise<Visitor | undefined> {
    if (signIn) {
      const currentPrincipal = (): Promise<Principal | undefined> => signIn.principal(context.request);
      const principal = await currentPrincipal();
      return (
        principal && { principal, isStillSignedIn: async () => (await currentPrincipal())?.userId === principal.userId }
      );
    }
    const secret = cookie.read(context);
    const signedIn = secret === undefined ? undefined : await accounts.session(secret);
    if (!signedIn || secret === undefined) return undefined;
    const isStillSignedIn = async (): Promise<boolean> => (await accounts.session(secret)) !== undefined;
    return { principal: signedIn.principal, signedIn, isStillSignedIn };
  }

  return {
    find,
    async require(context) {
      const visitor = await find(context);
      if (!visitor) throw new ConsoleRefusal("unauthorized", "sign in first: the session is unknown or has ended");
      return visitor;
    },
  };
}
