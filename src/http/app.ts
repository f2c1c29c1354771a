import { Router } from "itty-router";
import { PortBusy } from "../application/guards/port-fault.ts";
import { TurnBudget } from "../base/turn-budget.ts";
import type { Principal } from "../domain/principal.ts";
import { Refusal } from "../domain/refusal.ts";
import { StorageUnavailable } from "../ports/storage.ts";
import type { Reply, RequestLike, SocketHandlers, WebApp } from "../ports/web.ts";
import { identify } from "./bearer.ts";
import { STOPPING } from "./closed.ts";
import { corsPolicy } from "./cors.ts";
import type { HttpDependencies, HttpParts } from "./dependencies.ts";
import { finish, INTERNAL } from "./finish.ts";
import { guardedHttpPorts } from "./guarded-http-ports.ts";
import { loggedRecords } from "./logged-records.ts";
import { requestMeter } from "./metrics.ts";
import { notFoundPage } from "./not-found-page.ts";
import { OWN_SEGMENTS, ownPaths } from "./own-paths.ts";
import { HttpRefusal, problem, problemOf, refusedPath } from "./problems/problem.ts";
import { callerLimiter } from "./rate-limit.ts";
import { html, noContent, toResponse, varying } from "./reply.ts";
import { RequestContext } from "./request-context.ts";
import { givenRequestId, requestIds } from "./request-id.ts";
import { type Resource, resourcesOf, respond } from "./resource.ts";
import { allRoutes } from "./routes/all-routes.ts";
import { LINK_PAGES } from "./routes/link-routes.ts";
import { publicPage } from "./routes/page-routes.ts";
import { SocketBudget } from "./socket-budget.ts";
import { StreamTickets } from "./stream/stream-tickets.ts";
import { withoutFragment } from "./without-fragment.ts";

/** The status of a request whose connection closed first, in metrics and the log. */
const CLIENT_CLOSED = 499;
/** Requests that begin in one turn of the event loop: one takes milliseconds, and frames of audio are due in between. */
const MAX_BEGUN = 4;

export type { HttpParts } from "./dependencies.ts";

/**
 * The HTTP interface as an application for a server adapter.
 * @throws {TypeError} if the base path or the prefix of a page is not a valid path
 */
export function createHttp(parts: HttpParts): WebApp {
  const { system, log } = parts;
  const deps = guardedHttpPorts(parts);
  const base = checkedBase(deps.basePath ?? "");
  const newRequestId = deps.newRequestId ?? requestIds(system);
  const cors = corsPolicy(deps.cors ?? false);
  const limiter = callerLimiter(deps.rateLimit, () => system.monotonic());
  const meter = requestMeter();
  const tickets = new StreamTickets(system);
  const sockets = new SocketBudget();
  const begun = new TurnBudget(MAX_BEGUN);
  const identification = { authenticate: deps.authenticate, tickets, log };
  const pages = deps.pages.map((page) => ({ ...checkedPrefix(page.prefix), page }));
  const resources = resourcesOf(allRoutes(deps, { base, meter, tickets }));
  const fixed = new Map(
    resources.filter(({ path }) => !/[:*]/.test(path)).map((resource) => [resource.path, resource]),
  );
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
    if (!decision.allowed)
      throw new HttpRefusal("rate_limited", `too many requests; try again in ${decision.retryAfter} s`, {
        headers: { "retry-after": String(decision.retryAfter) },
      });
  }

  const reply = async (resource: Resource, context: RequestContext): Promise<Reply | undefined> =>
    sockets.admit(await respond(resource, context, admit), context);

  /** The problem document of an error; one that is not a refusal reveals nothing. */
  function failed(error: unknown, context: RequestContext): Reply {
    if (error instanceof Refusal) return problemOf(context, error);
    // The connection has closed, so no client gets this reply.
    if (context.signal.aborted) return { status: CLIENT_CLOSED, headers: {} };
    if (deps.closing?.()) return problem(context, "stopping", STOPPING);
    if (error instanceof StorageUnavailable) {
      log.warn({ request_id: context.requestId, err: error }, "the storage is not available");
      return problem(context, "storage_unavailable", "the storage is not available at the moment; try again");
    }
    if (error instanceof PortBusy) {
      log.error({ request_id: context.requestId, err: error }, "a request waited too long for a port");
      return problem(context, "server_busy", "a part of the server does not respond at the moment; try again");
    }
    log.error({ request_id: context.requestId, err: error }, "a request failed");
    return problem(context, "internal_error", INTERNAL);
  }

  /** A page for people who follow a link, a problem document for programs. */
  async function notFound(context: RequestContext): Promise<Reply> {
    const asProblem = (): Reply => problem(context, "not_found", noRoute(context));
    if (isVersioned(context.path)) return asProblem();
    if (!/\btext\/html\b/.test(context.header("accept") ?? "")) return varying(asProblem(), "Accept");
    const page = await notFoundPage(context.base);
    return varying({ ...html(page.html, page.contentSecurityPolicy), status: 404 }, "Accept");
  }

  const router = Router<RequestContext, []>({
    // In this order, each of these can end a request before it is routed.
    before: [
      (context: RequestContext) => cors?.preflight(context),
      (context: RequestContext) => (context.principal || isVersioned(context.path) ? admit(context) : undefined),
      // A 401 comes first: it reveals nothing of the paths below /v1.
      (context: RequestContext) => refusedPath(context),
      // The router tries its routes in order, and most paths without parameters would be among the last.
      (context: RequestContext) => {
        const resource = fixed.get(context.path);
        return resource && reply(resource, context);
      },
    ],
    catch: (error: unknown, request: unknown) => failed(error, request as RequestContext),
    finally: [
      (reply: Reply | undefined, context: RequestContext) => reply ?? notFound(context),
      (reply: Reply, context: RequestContext) => finish(reply, context, cors, log),
    ],
  });
  for (const resource of resources) router.all(resource.path, (context: RequestContext) => reply(resource, context));
  for (const { prefix, page } of pages)
    router.all(`/${prefix}/*`, (context: RequestContext) =>
      context.method === "OPTIONS" ? noContent({ allow: "GET, HEAD, POST, OPTIONS" }) : publicPage(page, context, deps),
    );

  async function handle(request: RequestLike, principal?: Principal): Promise<Reply> {
    try {
      return await replyTo(contextOf(request, false, principal));
    } catch (cause) {
      return lastResort(cause, deps);
    }
  }

  async function upgrade(request: RequestLike, principal?: Principal): Promise<Reply | SocketHandlers> {
    try {
      const context = contextOf(request, true, principal);
      const reply = await replyTo(context);
      return reply.status === 101 && context.accepted ? context.accepted : reply;
    } catch (cause) {
      return lastResort(cause, deps);
    }
  }

  const contextOf = (request: RequestLike, upgrading: boolean, principal?: Principal): RequestContext =>
    new RequestContext({
      request,
      base,
      requestId: givenRequestId(request.headers.get("x-request-id")) ?? newRequestId(),
      upgrading,
      startedAt: system.monotonic(),
      principal,
    });

  /** The first segments of paths that may hold a code that links a number. */
  const secret = [LINK_PAGES, ...pages.map(({ prefix }) => prefix)];
  /** The path for the log; of a path that may hold a code only its prefix. */
  const loggedPath = ({ fullPath, path, pathFault, route }: RequestContext): string => {
    // No route takes a path with a fault, but it may still name a code.
    const prefix = secret.find((one) => (pathFault ? path.includes(`/${one}`) : path.startsWith(`/${one}/`)));
    const isOpen = prefix === undefined || route?.startsWith(`/${prefix}/calls/`);
    return isOpen ? fullPath : `${base}/${prefix}/…`;
  };

  async function replyTo(context: RequestContext): Promise<Reply> {
    await begun.take(1);
    const reply: Reply = await router.fetch(context).finally(() => context.release?.());
    const ms = system.monotonic() - context.startedAt;
    meter.count(context.method, context.route, reply.status, ms);
    log.info(
      {
        request_id: context.requestId,
        method: context.method,
        path: loggedPath(context).slice(0, 1024),
        status: reply.status,
        ms: Math.round(ms * 10) / 10,
        user_id: context.principal?.userId,
        ...loggedRecords(context, reply),
      },
      "request",
    );
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
      `a telephony has the page prefix ${JSON.stringify(prefix)}: it must be lower-case letters, digits and hyphens, and not a path of Ringport's own`,
    );
  return { prefix };
}

/** The reply if even the pipeline fails: an application never rejects. */
function lastResort(cause: unknown, { log }: HttpDependencies): Reply {
  try {
    log.error({ err: cause }, "a request could not be handled at all");
  } catch {
    // The logger itself may be broken.
  }
  return problem({ base: "", fullPath: "/", requestId: "none" }, "internal_error", INTERNAL);
}
