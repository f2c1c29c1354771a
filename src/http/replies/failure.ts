import { PortBusy } from "../../application/port-guards/port-fault.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Logger } from "../../ports/logger.ts";
import { StorageUnavailable } from "../../ports/storage.ts";
import type { Reply } from "../../ports/web.ts";
import { ABSENCES, type Absence } from "../not-running.ts";
import { internalProblem, problem, problemOf } from "../problems/problem.ts";
import type { RequestContext } from "../requests/request-context.ts";

/** Status in metrics and the log if the client closed the connection before the response. */
const CLIENT_CLOSED_STATUS = 499;

/**
 * The reply to a request that has failed. Details of errors other than refusals are withheld.
 * @param absence the reason why the server is not running; undefined if it is
 */
export function failureReply(
  error: unknown,
  context: RequestContext,
  { log, absence }: { readonly log: Logger; readonly absence: Absence | undefined },
): Reply {
  if (error instanceof Refusal) return problemOf(context, error);
  // The connection has closed, so no client gets this reply.
  if (context.signal.aborted) return { status: CLIENT_CLOSED_STATUS, headers: {} };
  if (absence) return problem(context, absence, ABSENCES[absence]);
  const fields = { request_id: context.requestId, err: error };
  if (error instanceof StorageUnavailable) {
    log.warn(fields, "the storage is not available");
    return problem(context, "storage_unavailable", "the storage is not available at the moment; try again");
  }
  if (error instanceof PortBusy) {
    log.error(fields, "a request waited too long for a port");
    return problem(context, "server_busy", "a part of the server does not respond at the moment; try again");
  }
  log.error(fields, "a request failed");
  return internalProblem(context);
}

/** The reply if handling a failure fails too: the promise of an application never rejects. */
export function fallbackReply(cause: unknown, log: Logger | undefined): Reply {
  try {
    log?.error({ err: cause }, "a request could not be handled at all");
  } catch {
    // The logger itself may be broken.
  }
  return internalProblem({ base: "", fullPath: "/", requestId: "none" });
}
