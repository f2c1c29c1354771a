import { silentLogger } from "../ports/logger.ts";
import { realSystem } from "../ports/system.ts";
import type { Reply, RequestLike, WebApp } from "../ports/web.ts";
import { problem } from "./problems/problem.ts";
import { finish } from "./replies/finish.ts";
import { toResponse } from "./replies/reply.ts";
import { ownPaths } from "./requests/own-paths.ts";
import { requestContexts } from "./requests/request-context.ts";
import { withoutFragment } from "./requests/without-fragment.ts";

/** The detail of `stopping`. */
export const STOPPING = "the server is stopping or has stopped";

/** The detail of `storage_unavailable` while another server owns the database or may own it. */
export const NOT_THE_OWNER = "this server does not own its database at the moment; another server may own it";

/** Why a server is not running, with the detail of the problem document. */
export const ABSENCES = {
  stopping: STOPPING,
  storage_unavailable: NOT_THE_OWNER,
  not_ready: "the server could not start; see its log",
} as const;

/** The code of the problem document of a server that is not running. */
export type Absence = keyof typeof ABSENCES;

/** The application of a server that is not running: every request gets a 503. */
export function closedHttp(code: Absence, basePath: string = ""): WebApp {
  const base = basePath.replace(/\/+$/, "");
  const contextOf = requestContexts(realSystem, base);
  const isOwn = ownPaths(base);
  const answer = (request: RequestLike): Reply => {
    const context = contextOf(request, false);
    return finish(problem(context, code, ABSENCES[code]), context, undefined, silentLogger);
  };
  return {
    handle: async (request) => answer(request),
    claims: async ({ url }) => isOwn(url),
    fetch: async (request) => toResponse(answer(withoutFragment(request))),
    upgrade: async (request) => answer(request),
  };
}
