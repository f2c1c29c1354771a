import { silentLogger } from "../ports/logger.ts";
import { realSystem } from "../ports/system.ts";
import type { Reply, RequestLike } from "../ports/web.ts";
import { problem } from "./problems/problem.ts";
import { finish } from "./replies/finish-reply.ts";
import { requestContexts } from "./requests/request-context.ts";

/** The detail of `stopping`. */
export const STOPPING = "the server is stopping or has stopped";

/** The detail of `storage_unavailable` while another server owns the database or may own it. */
export const NOT_THE_OWNER = "this server does not own its database at the moment; another server may own it";

/** Reasons why a server is not running, with the detail of the problem document. */
export const ABSENCES = {
  stopping: STOPPING,
  storage_unavailable: NOT_THE_OWNER,
  not_ready: "the server could not start; see its log",
} as const;

/** The code of the problem document that is returned while the server is not running. */
export type Absence = keyof typeof ABSENCES;

/**
 * Returns a function that refuses a request with a 503, because no application is running.
 * @param base path before `/v1`
 */
export function closedRefusal(base: string): (request: RequestLike, code: Absence) => Reply {
  const contextOf = requestContexts(realSystem, base);
  return (request, code) => {
    const context = contextOf(request, false);
    return finish(problem(context, code, ABSENCES[code]), context, undefined, silentLogger);
  };
}
