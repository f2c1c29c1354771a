import type { SignedIn } from "../../../src/application/accounts/account-use-cases.ts";
import { InternalError } from "../../../src/base/error.ts";
import type { Cost } from "../../../src/http/cost.ts";
import type { RequestContext } from "../../../src/http/requests/request-context.ts";
import type { RouteHandler } from "../../../src/http/route.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import type { System } from "../../../src/ports/system.ts";
import type { Reply } from "../../../src/ports/web.ts";
import type { Ringport } from "../../../src/ringport.ts";
import type { ConsoleOptions } from "./console-options.ts";
import { ConsoleRefusal } from "./problems.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { Visitors } from "./visitors.ts";

/** Dependencies of the console server's parts. */
export interface ConsoleParts {
  readonly ringport: Ringport;
  readonly signIn: ConsoleOptions["signIn"];
  readonly cookie: SessionCookie;
  /** The cookie that marks browsers that have signed in before. */
  readonly deviceCookie: SessionCookie;
  readonly visitors: Visitors;
  readonly system: System;
  readonly log: Logger;
}

/** A console route. The origin of its requests has already been checked. */
export interface ConsoleRoute extends RouteHandler {
  /** Path after `/console/api`, with `:id` for the only parameter. */
  readonly path: string;
  /** Access: everyone, or only signed-in users. */
  readonly access: "everyone" | "signed-in";
  /** The limits that apply to the route's expensive work. */
  readonly cost: Cost;
}

/** Creates the routes of one subject. */
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
      if (!signedIn) throw new InternalError("a signed-in visitor has no account");
      return run(context, signedIn);
    },
  };
}

/** @throws {ConsoleRefusal} `accounts_off`: the embedding program signs people in */
export function requireAccounts(signIn: ConsoleParts["signIn"]): void {
  if (signIn) throw new ConsoleRefusal("accounts_off", `people sign in at ${signIn.url}`);
}

/** The id in the path; our ids need no decoding. */
export function idOf({ params }: RequestContext): string {
  return (params.id ?? "").slice(0, 64);
}
