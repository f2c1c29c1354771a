import { pathProblem, problem } from "../../../src/http/problems/problem.ts";
import { failureReply } from "../../../src/http/replies/failure.ts";
import { finish } from "../../../src/http/replies/finish-reply.ts";
import { type RequestContext, requestContexts } from "../../../src/http/requests/request-context.ts";
import { logRequest } from "../../../src/http/requests/request-log.ts";
import { router } from "../../../src/http/router.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { realSystem } from "../../../src/ports/system.ts";
import type { Reply, RequestLike, SocketHandlers } from "../../../src/ports/web.ts";
import type { Ringport } from "../../../src/ringport.ts";
import type { ConsoleOptions } from "./console-options.ts";
import type { ConsoleParts } from "./console-route.ts";
import { consoleRoutes } from "./console-routes.ts";
import { dispatch } from "./dispatch.ts";
import { pageFiles, pageOrFile } from "./page-files.ts";
import { consoleProblem } from "./problems.ts";
import { assertSameOrigin } from "./same-origin.ts";
import { withSecurityHeaders } from "./security-headers.ts";
import { sessionCookie } from "./session-cookie.ts";
import { visitors } from "./visitors.ts";

/** The console's server part: every path under `/console`, and the front page. */
export interface ConsoleServer {
  /** Responds to a request. The promise never rejects. */
  handle(request: RequestLike): Promise<Reply>;
  /** Upgrades a request to a WebSocket, or refuses it. The promise never rejects. */
  upgrade(request: RequestLike): Promise<Reply | SocketHandlers>;
}

/** Prefix of the console's own routes. */
const API = "/console/api";

export function consoleServer(ringport: Ringport, options: ConsoleOptions): ConsoleServer {
  const { signIn, log = silentLogger, system = realSystem } = options;
  const base = ringport.basePath;
  const contextOf = requestContexts(system, base);
  const cookie = sessionCookie(base, ringport.publicUrl);
  const parts: ConsoleParts = {
    ringport,
    signIn,
    cookie,
    deviceCookie: sessionCookie(base, ringport.publicUrl, "device"),
    visitors: visitors(ringport.accounts, cookie, signIn),
    system,
    log,
  };
  const dispatcher = dispatch(parts);
  const files = pageFiles(options.assets);

  const apiReply = router(
    consoleRoutes(parts).map((route) => ({ ...route, path: API + route.path })),
    (context) => assertSameOrigin(context, ringport.publicUrl),
  );

  /** The console's reply; a 404 for an unknown path. */
  async function consoleReply(context: RequestContext): Promise<Reply> {
    const { path, method } = context;
    if (path === "/") return { status: 302, headers: { location: `${base}/console`, "cache-control": "no-cache" } };
    const isApi = path === API || path.startsWith(`${API}/`);
    const reply: Reply | undefined = isApi ? await apiReply(context) : await pageOrFile(context, files);
    return reply ?? problem(context, "not_found", `no such route: ${method} ${context.fullPath.slice(0, 200)}`);
  }

  const errorReply = (context: RequestContext, error: unknown): Reply =>
    consoleProblem(context, error) ?? failureReply(error, context, { log, absence: ringport.absence() });

  /** @param path the path to log */
  function logReply(context: RequestContext, reply: Reply, path: string = context.fullPath): Reply {
    const finalReply = finish(withSecurityHeaders(reply), context, undefined, log);
    logRequest(log, context, finalReply, { path, ms: system.monotonic() - context.startedAt });
    return finalReply;
  }

  /** @param forward passes a request on to the HTTP API, which also logs it */
  async function serve<T>(
    request: RequestLike,
    isUpgrade: boolean,
    forward: (context: RequestContext, path: string) => Promise<T>,
  ): Promise<T | Reply> {
    const context = contextOf(request, isUpgrade);
    const path = context.path.slice("/console".length);
    const refusal = pathProblem(context);
    if (refusal) return logReply(context, refusal, loggedPath(path));
    let isForwarded = false;
    try {
      isForwarded = await dispatcher.accepts(path);
      if (isForwarded) return await forward(context, path);
      return logReply(context, await consoleReply(context));
    } catch (error) {
      return logReply(context, errorReply(context, error), isForwarded ? loggedPath(path) : undefined);
    }
  }

  /** The path for the log. For a network's page, only the prefix: the rest may be a code that links a number. */
  const loggedPath = (path: string): string => {
    const [, prefix = ""] = path.split("/", 2);
    return `${base}/console${prefix === "v1" ? path : `/${prefix}/…`}`;
  };

  return {
    handle: (request) => serve(request, false, dispatcher.handle),
    upgrade: (request) => serve(request, true, dispatcher.upgrade),
  };
}
