import { type IdPrefix, isId } from "../base/ids.ts";
import type { Reply } from "../ports/web.ts";
import type { RequestContext } from "./request-context.ts";

/** The ids of a request's records for the log: from its path, or of the record that it created. */
export function loggedRecords({ params }: RequestContext, reply: Reply): { call_id?: string; instance_id?: string } {
  const made = reply.headers.location?.replace(/^.*\//s, "");
  const id = (prefix: IdPrefix, named: string | undefined): string | undefined =>
    [named, made].find((text) => text !== undefined && isId(prefix, text));
  const [callId, instanceId] = [id("call", params.callId), id("inst", params.instanceId)];
  return { ...(callId && { call_id: callId }), ...(instanceId && { instance_id: instanceId }) };
}
