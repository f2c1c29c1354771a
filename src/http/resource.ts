import type { Principal } from "../domain/principal.ts";
import { Refusal } from "../domain/refusal.ts";
import { hasScope, type TokenScope } from "../domain/token-scope.ts";
import type { Reply } from "../ports/web.ts";
import { HttpRefusal } from "./problems/problem.ts";
import { noContent } from "./reply.ts";
import type { RequestContext } from "./request-context.ts";
import { METHODS, type Route } from "./route.ts";

/** All routes of one path: HEAD, OPTIONS and 405 follow from them. */
export interface Resource {
  readonly path: string;
  /** Value of the Allow header (RFC 9110 §10.2.1). */
  readonly allow: string;
  readonly methods: ReadonlyMap<string, Route>;
}

/** The routes by path, in the order in which the paths first appear. */
export function resourcesOf(routes: readonly Route[]): Resource[] {
  const byPath = new Map<string, Map<string, Route>>();
  for (const route of routes) {
    const methods = byPath.get(route.path) ?? new Map<string, Route>();
    byPath.set(route.path, methods.set(route.method, route));
  }
  return [...byPath].map(([path, methods]) => {
    const allowed = METHODS.filter((name) => methods.has(name === "HEAD" ? "GET" : name));
    return { path, methods, allow: [...allowed, "OPTIONS"].join(", ") };
  });
}

/**
 * The reply to a request for the resource; undefined if the route finds nothing.
 * @param identify authenticates the caller of the context
 * @throws {Refusal} `method_not_allowed`, `insufficient_scope`, and the refusals of the route
 */
export async function respond(
  resource: Resource,
  context: RequestContext,
  identify: (context: RequestContext) => Promise<void>,
): Promise<Reply | undefined> {
  // The router ignores trailing slashes, and treats the path of a request outside of the base path as "/".
  if (context.path !== resource.path && /^$|\/$/.test(context.path)) return undefined;
  context.route = resource.path;
  const { method } = context;
  if (method === "OPTIONS") return noContent({ allow: resource.allow });
  const route = resource.methods.get(method === "HEAD" ? "GET" : method);
  if (!route)
    throw new HttpRefusal("method_not_allowed", `allowed methods: ${resource.allow}`, {
      headers: { allow: resource.allow },
    });
  decodeParameters(context);
  const { access } = route.operation;
  if (access !== "open") {
    if (!context.principal) await identify(context);
    assertScope(context.caller, access);
  }
  return route.run(context);
}

/** @throws {HttpRefusal} `insufficient_scope` (RFC 6750 §3.1) */
export function assertScope({ scopes }: Principal, scope: TokenScope): void {
  if (hasScope(scopes, scope)) return;
  throw new HttpRefusal(
    "insufficient_scope",
    `this request needs a token with the scope "${scope}"; this one has: ${scopes?.join(", ")}`,
    { headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` } },
  );
}

/** Decodes the path parameters, which the router leaves percent-encoded. */
function decodeParameters(context: RequestContext): void {
  const { params } = context;
  for (const name in params) {
    const value = params[name];
    if (!value?.includes("%")) continue;
    try {
      params[name] = decodeURIComponent(value);
    } catch (cause) {
      throw new Refusal("not_found", "the path is not valid percent-encoded UTF-8", { cause });
    }
  }
}
