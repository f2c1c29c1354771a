import type { SignedIn } from "../../../src/application/accounts/account-use-cases.ts";
import type { Cost } from "../../../src/http/cost.ts";
import type { RequestContext } from "../../../src/http/request-context.ts";
import type { Reply } from "../../../src/ports/web.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { ConsoleRefusal } from "./problems.ts";

/** One route of the console itself. Its request comes from a page of this server: that was checked. */
export interface ConsoleRoute {
  readonly method: "GET" | "POST" | "DELETE";
  /** After `/console/api`, with `:id` for the one parameter that there is. */
  readonly path: string;
  /** Whom it serves: anybody, or whoever is signed in. */
  readonly access: "anybody" | "signed-in";
  /** The limits of its expensive work. */
  readonly cost: Cost;
  run(context: RequestContext): Promise<Reply>;
}

/** Makes the routes of one subject. */
export type RoutesOf = (parts: ConsoleParts) => readonly ConsoleRoute[];

/** A route that needs an account. */
export function accountRoute(
  { visitors, signIn }: ConsoleParts,
  { method, path, cost }: Pick<ConsoleRoute, "method" | "path"> & { readonly cost: Cost },
  run: (context: RequestContext, signedIn: SignedIn) => Promise<Reply>,
): ConsoleRoute {
  return {
    method,
    path,
    access: "signed-in",
    cost,
    async run(context) {
      requireAccounts(signIn);
      const { principal, signedIn } = await visitors.require(context);
      context.principal = principal;
      if (!signedIn) throw new Error("a visitor of a console with accounts has none");
      return run(context, signedIn);
    },
  };
}

/** @throws {ConsoleRefusal} `accounts_off`: the embedding program signs people in */
export function requireAccounts(signIn: ConsoleParts["signIn"]): void {
  if (signIn) throw new ConsoleRefusal("accounts_off", `people sign in at ${signIn.url}`);
}

/** The id in the path, as it was sent: an id of ours has nothing to decode. */
export function idOf({ params }: RequestContext): string {
  return (params.id ?? "").slice(0, 64);
}
