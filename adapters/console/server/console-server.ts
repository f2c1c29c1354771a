import { Router } from "itty-router";
import { Refusal } from "../../../src/domain/refusal.ts";
import { ABSENCES } from "../../../src/http/closed.ts";
import { finish, INTERNAL } from "../../../src/http/finish.ts";
import { problem, problemOf, refusedPath } from "../../../src/http/problems/problem.ts";
import { noContent } from "../../../src/http/reply.ts";
import { RequestContext } from "../../../src/http/request-context.ts";
import { givenRequestId, requestIds } from "../../../src/http/request-id.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { realSystem } from "../../../src/ports/system.ts";
import type { Reply, RequestLike, SocketHandlers } from "../../../src/ports/web.ts";
import type { Ringport } from "../../../src/ringport.ts";
import type { ConsoleOptions } from "./console-options.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { consoleRoutes } from "./console-routes.ts";
import { dispatch } from "./dispatch.ts";
import { files } from "./files.ts";
import { pageOrFile } from "./pages.ts";
import { consoleProblem } from "./problems.ts";
import { assertSameOrigin } from "./same-origin.ts";
import { secured } from "./security-headers.ts";
import { sessionCookie } from "./session-cookie.ts";
import { visitors } from "./visitors.ts";

/** The server's part of the console: every path below `/console`, and the front page. */
export interface ConsoleServer {
  /** Never rejects. */
  handle(request: RequestLike): Promise<Reply>;
  /** Never rejects. */
  upgrade(request: RequestLike): Promise<Reply | SocketHandlers>;
}

/** Where the routes of the console itself are. */
const API = "/console/api";

export function consoleServer(ringport: Ringport, options: ConsoleOptions): ConsoleServer {
  const { signIn, log = silentLogger, system = realSystem } = options;
  const base = ringport.basePath;
  const newRequestId = requestIds(system);
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
  const core = dispatch(parts);
  const stored = files(options.assets);

  const router = Router<RequestContext, []>();
  const routes = consoleRoutes(parts);
  for (const path of new Set(routes.map((route) => route.path))) {
    const own = routes.filter((route) => route.path === path);
    router.all(API + path, async (context: RequestContext) => {
      const { method } = context;
      const allow = own.flatMap((route) => (route.method === "GET" ? ["GET", "HEAD"] : [route.method])).join(", ");
      if (method === "OPTIONS") return noContent({ allow });
      const route = own.find((one) => one.method === (method === "HEAD" ? "GET" : method));
      if (!route) return problem(context, "method_not_allowed", `allowed methods: ${allow}`, { headers: { allow } });
      assertSameOrigin(context, ringport.publicUrl);
      return route.run(context);
    });
  }

  /** The reply to a request that is not passed on; a 404 if nothing else fits. */
  async function ownReply(context: RequestContext): Promise<Reply> {
    const { path, method } = context;
    if (path === "/") return { status: 302, headers: { location: `${base}/console`, "cache-control": "no-cache" } };
    const isApi = path === API || path.startsWith(`${API}/`);
    const reply: Reply | undefined = isApi ? await router.fetch(context) : await pageOrFile(context, stored);
    return reply ?? problem(context, "not_found", `no such route: ${method} ${context.fullPath.slice(0, 200)}`);
  }

  /** The problem document of an error; one that is not a refusal reveals nothing. */
  function failed(context: RequestContext, error: unknown): Reply {
    const known = error instanceof Refusal ? problemOf(context, error) : consoleProblem(context, error);
    if (known) return known;
    const fields = { request_id: context.requestId, err: error };
    const absence = ringport.absence();
    if (absence) {
      log.error(fields, "a request of the console came, but Ringport is not running");
      return problem(context, absence, ABSENCES[absence]);
    }
    if (error instanceof StorageUnavailable) {
      log.warn(fields, "the storage is not available");
      return problem(context, "storage_unavailable", "the storage is not available at the moment; try again");
    }
    log.error(fields, "a request of the console failed");
    return problem(context, "internal_error", INTERNAL);
  }

  /** @param path for the log */
  function logged(context: RequestContext, reply: Reply, path: string = context.fullPath): Reply {
    const finished = finish(secured(reply), context, undefined, log);
    log.info(
      {
        request_id: context.requestId,
        method: context.method,
        path: path.slice(0, 1024),
        status: finished.status,
        ms: Math.round((system.monotonic() - context.startedAt) * 10) / 10,
        user_id: context.principal?.userId,
      },
      "request",
    );
    return finished;
  }

  /** @param pass hands a request of the HTTP interface on, which logs it too */
  async function answer<T>(
    request: RequestLike,
    upgrading: boolean,
    pass: (context: RequestContext, path: string) => Promise<T>,
  ): Promise<T | Reply> {
    const requestId = givenRequestId(request.headers.get("x-request-id")) ?? newRequestId();
    const context = new RequestContext({ request, base, requestId, upgrading, startedAt: system.monotonic() });
    const path = context.path.slice("/console".length);
    const refused = refusedPath(context);
    if (refused) return logged(context, refused, loggedPath(path));
    let isPassed = false;
    try {
      isPassed = await core.takes(path);
      if (isPassed) return await pass(context, path);
      return logged(context, await ownReply(context));
    } catch (error) {
      return logged(context, failed(context, error), isPassed ? loggedPath(path) : undefined);
    }
  }

  /** Of a page of a network only the prefix: the rest may be a code that links a number. */
  const loggedPath = (path: string): string => {
    const [, prefix = ""] = path.split("/", 2);
    return `${base}/console${prefix === "v1" ? path : `/${prefix}/…`}`;
  };

  return {
    handle: (request) => answer(request, false, core.handle),
    upgrade: (request) => answer(request, true, core.upgrade),
  };
}
