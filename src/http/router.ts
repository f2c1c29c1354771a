import { Router } from "itty-router";
import { Refusal } from "../domain/refusal.ts";
import type { Reply } from "../ports/web.ts";
import { HttpRefusal } from "./problems/problem.ts";
import { noContent } from "./replies/reply.ts";
import type { RequestContext } from "./requests/request-context.ts";
import { METHODS, type RouteHandler } from "./route.ts";

/** All routes of one path: HEAD, OPTIONS and 405 follow from them. */
export interface Resource<R extends RouteHandler> {
  readonly path: string;
  /** Value of the Allow header (RFC 9110 §10.2.1). */
  readonly allow: string;
  readonly methods: ReadonlyMap<string, R>;
}

/** Decides whether a route may run. @throws the refusal of the request */
type Admit<R> = (context: RequestContext, route: R) => void | Promise<void>;

/**
 * Returns a function that makes the reply to a request; undefined if no route has its path, or if the route finds
 * nothing. It throws the refusals `method_not_allowed` and `not_found`, and those of `admit` and of the route.
 */
export function router<R extends RouteHandler>(
  routes: readonly R[],
  admit: Admit<R>,
): (context: RequestContext) => Promise<Reply | undefined> {
  const resources = resourcesOf(routes);
  const staticResources = new Map(
    resources.filter(({ path }) => !/[:*]/.test(path)).map((resource) => [resource.path, resource]),
  );
  const patterns = Router<RequestContext, []>();
  for (const resource of resources)
    patterns.all(resource.path, (context: RequestContext) => respond(resource, context, admit));
  return async (context) => {
    // The patterns are tried in order, and most paths without parameters would otherwise come last.
    const resource = staticResources.get(context.path);
    return (resource && (await respond(resource, context, admit))) ?? patterns.fetch(context);
  };
}

/** The routes by path, in the order in which the paths first appear. */
export function resourcesOf<R extends RouteHandler>(routes: readonly R[]): Resource<R>[] {
  const byPath = new Map<string, Map<string, R>>();
  for (const route of routes) {
    const methods = byPath.get(route.path) ?? new Map<string, R>();
    byPath.set(route.path, methods.set(route.method, route));
  }
  return [...byPath].map(([path, methods]) => {
    const allowedMethods = METHODS.filter((name) => methods.has(name === "HEAD" ? "GET" : name));
    return { path, methods, allow: [...allowedMethods, "OPTIONS"].join(", ") };
  });
}

async function respond<R extends RouteHandler>(
  resource: Resource<R>,
  context: RequestContext,
  admit: Admit<R>,
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
  await admit(context, route);
  return route.run(context);
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
