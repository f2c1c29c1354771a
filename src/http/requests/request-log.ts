import { type IdPrefix, isId } from "../../base/ids.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Reply } from "../../ports/web.ts";
import type { RequestContext } from "./request-context.ts";

/**
 * Logs a request whose reply is known.
 * @param path path to log, without secret codes
 */
export function logRequest(
  log: Logger,
  context: RequestContext,
  reply: Reply,
  { path, ms }: { readonly path: string; readonly ms: number },
): void {
  log.info(
    {
      request_id: context.requestId,
      method: context.method,
      path: path.slice(0, 1024),
      status: reply.status,
      ms: Math.round(ms * 10) / 10,
      user_id: context.principal?.userId,
      ...loggedRecords(context, reply),
    },
    "request",
  );
}

/** The ids of the records that a request is about: from its path, or of the record that it created. */
function loggedRecords({ params }: RequestContext, reply: Reply): { call_id?: string; instance_id?: string } {
  const createdId = reply.headers.location?.replace(/^.*\//s, "");
  const id = (prefix: IdPrefix, pathId: string | undefined): string | undefined =>
    [pathId, createdId].find((text) => text !== undefined && isId(prefix, text));
  const [callId, instanceId] = [id("call", params.callId), id("inst", params.instanceId)];
  return { ...(callId && { call_id: callId }), ...(instanceId && { instance_id: instanceId }) };
}
