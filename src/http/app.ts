import { escapeHtml, htmlPage } from "../base/html-page.ts";
import { TurnBudget } from "../base/turn-budget.ts";
import type { Principal } from "../domain/access/principal.ts";
import type { Reply, RequestLike, SocketHandlers, WebApp } from "../ports/web.ts";
import { assertScope, identify } from "./bearer.ts";
import { corsPolicy } from "./cors.ts";
import { guardedHttpPorts, type HttpParts } from "./dependencies.ts";
import { requestMeter } from "./metrics.ts";
import { HttpRefusal, pathProblem, problem } from "./problems/problem.ts";
import { callerLimiter } from "./rate-limit.ts";
import { failureReply, fallbackReply } from "./replies/failure.ts";
import { finish } from "./replies/finish-reply.ts";
import { html, noContent, toResponse, withVary } from "./replies/reply.ts";
import { OWN_SEGMENTS, ownPaths } from "./requests/own-paths.ts";
import { type RequestContext, requestContexts } from "./requests/request-context.ts";
import { logRequest } from "./requests/request-log.ts";
import { withoutFragment } from "./requests/without-fragment.ts";
import { router } from "./router.ts";
import { allRoutes } from "./routes/all-routes.ts";
import { LINK_PAGES } from "./routes/link-routes.ts";
import { publicPage } from "./routes/page-routes.ts";
import { SocketBudget } from "./sockets/socket-budget.ts";
import { StreamTickets } from "./stream/stream-tickets.ts";

/**
 * Maximum number of requests started per turn of the event loop: a request takes milliseconds, and audio frames are due
 * in between.
 */
const MAX_STARTS = 4;

export type { HttpParts } from "./dependencies.ts";

/**
 * The HTTP interface as an application for a server adapter.
 * @throws {TypeError} if the base path or the prefix of a page is not a valid path
 */
export function createHttp(parts: HttpParts): WebApp {
  const { system, log } = parts;
  const deps = guardedHttpPorts(parts);
  const base = checkedBase(deps.basePath ?? "");
  const escapedBase = escapeHtml(base);
  const contextOf = requestContexts(system, base, deps.newRequestId);
  const cors = corsPolicy(deps.cors ?? false);
  const limiter = callerLimiter(deps.rateLimit, () => system.monotonic());
  const meter = requestMeter();
  const tickets = new StreamTickets(system);
  const sockets = new SocketBudget();
  const startBudget = new TurnBudget(MAX_STARTS);
  const identification = { authenticate: deps.authenticate, tickets, log };
  const pages = deps.pages.map((page) => ({ ...checkedPrefix(page.prefix), page }));
  const isOwn = ownPaths(
    base,
    pages.map(({ prefix }) => prefix),
  );

  /** Authenticates the caller and checks the rate limit. */
  async function admit(context: RequestContext): Promise<void> {
    await identify(context, identification);
    const decision = limiter(context.caller);
    if (!decision) return;
    context.replyHeaders = decision.headers;
    if (!decision.isAllowed)
      throw new HttpRefusal("rate_limited", `too many requests; try again in ${decision.retryAfter} s`, {
        headers: { "retry-after": String(decision.retryAfter) },
      });
  }

  const route = router(allRoutes(deps, { base, meter, tickets }), async (context, { operation: { access } }) => {
    if (access === "open") return;
    if (!context.principal) await admit(context);
    assertScope(context.caller, access);
  });

  /** The 404: a page for people who follow a link, a problem document for programs. */
  async function notFound(context: RequestContext): Promise<Reply> {
    const asProblem = (): Reply => problem(context, "not_found", noRoute(context));
    if (isVersioned(context.path)) return asProblem();
    if (!/\btext\/html\b/.test(context.header("accept") ?? "")) return withVary(asProblem(), "Accept");
    const page = await htmlPage(
      "There is no such page",
      `<p>This is a Ringport server. <a href="${escapedBase}/docs">Its interface</a> is documented here, and so are <a href="${escapedBase}/docs/errors">its errors</a>.</p>`,
      "card",
    );
    return withVary({ ...html(page.html, page.contentSecurityPolicy), status: 404 }, "Accept");
  }

  /** A network's reply to a request for one of its public pages. */
  async function networkPage(context: RequestContext): Promise<Reply | undefined> {
    const { path, method } = context;
    const match = pages.find(({ prefix }) => path === `/${prefix}` || path.startsWith(`/${prefix}/`));
    if (!match) return undefined;
    context.route = `/${match.prefix}/*`;
    return method === "OPTIONS"
      ? noContent({ allow: "GET, HEAD, POST, OPTIONS" })
      : publicPage(match.page, context, deps);
  }

  async function respond(context: RequestContext): Promise<Reply> {
    const preflight = cors?.preflight(context);
    if (preflight) return preflight;
    if (context.principal || isVersioned(context.path)) await admit(context);
    // A 401 takes precedence: it does not reveal the paths under /v1.
    return (
      pathProblem(context) ??
      sockets.admit(await route(context), context) ??
      (await networkPage(context)) ??
      notFound(context)
    );
  }

  async function handle(request: RequestLike, principal?: Principal): Promise<Reply> {
    try {
      return await replyTo(contextOf(request, false, principal));
    } catch (cause) {
      return fallbackReply(cause, log);
    }
  }

  async function upgrade(request: RequestLike, principal?: Principal): Promise<Reply | SocketHandlers> {
    try {
      const context = contextOf(request, true, principal);
      const reply = await replyTo(context);
      return reply.status === 101 && context.socketHandlers ? context.socketHandlers : reply;
    } catch (cause) {
      return fallbackReply(cause, log);
    }
  }

  /** The first segments of paths that may hold a code that links a number. */
  const secretSegments = [LINK_PAGES, ...pages.map(({ prefix }) => prefix)];
  /** The path for the log: only its prefix if it may hold a code. */
  const loggedPath = ({ fullPath, path, pathFault, route }: RequestContext): string => {
    // No route accepts an invalid path, but it may still contain a code.
    const prefix = secretSegments.find((segment) =>
      pathFault ? path.includes(`/${segment}`) : path.startsWith(`/${segment}/`),
    );
    const isOpen = prefix === undefined || route?.startsWith(`/${prefix}/calls/`);
    return isOpen ? fullPath : `${base}/${prefix}/…`;
  };

  async function replyTo(context: RequestContext): Promise<Reply> {
    await startBudget.take(1);
    const reply = await respond(context)
      .catch((error: unknown) =>
        failureReply(error, context, { log, absence: deps.closing?.() ? "stopping" : undefined }),
      )
      .then((result) => finish(result, context, cors, log))
      .finally(() => context.release?.());
    const ms = system.monotonic() - context.startedAt;
    meter.count(context.method, context.route, reply.status, ms);
    logRequest(log, context, reply, { path: loggedPath(context), ms });
    return reply;
  }

  return {
    handle,
    claims: async ({ url }) => isOwn(url),
    fetch: async (request) => toResponse(await handle(withoutFragment(request))),
    upgrade,
  };
}

const noRoute = ({ base, method, fullPath }: RequestContext): string =>
  `no such route: ${method} ${fullPath.slice(0, 200)} (see ${base}/docs)`;

const isVersioned = (path: string): boolean => path.startsWith("/v1/") || path === "/v1";

function checkedBase(basePath: string): string {
  const base = basePath.replace(/\/+$/, "");
  if (base === "") return "";
  if (!/^(?:\/[\w~-][\w.~-]*)+$/.test(base))
    throw new TypeError(`basePath is ${JSON.stringify(basePath)}: it must be a path such as /api`);
  return base;
}

function checkedPrefix(prefix: string): { prefix: string } {
  if (!/^(?!(?:console|api|assets)$)[a-z][a-z0-9-]*$/.test(prefix) || OWN_SEGMENTS.has(prefix))
    throw new TypeError(
      `a telephony adapter has the page prefix ${JSON.stringify(prefix)}: it must be lower-case letters, digits and hyphens, and not one of Ringport's own paths`,
    );
  return { prefix };
}
