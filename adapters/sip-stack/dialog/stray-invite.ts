import { responseTo, type SipRequest, type SipResponse } from "../message/message.ts";
import { tagOf, withTag } from "../message/name-addr.ts";
import type { AgentContext } from "./agent-context.ts";
import { REASONS } from "./reason-phrase.ts";
import { refusalOutside } from "./refusals.ts";

/**
 * The response to an INVITE from outside, without a transaction (RFC 3261 section 8.2.7): scanners never acknowledge it,
 * and a transaction would retransmit it for 32 s. Undefined for other requests.
 */
export function refuseStrayInvites(context: AgentContext): (request: SipRequest) => SipResponse | undefined {
  let tag: string | undefined;
  return (request) => {
    const to = request.headers.get("To") ?? "";
    if (request.method !== "INVITE" || tagOf(to) !== undefined) return undefined;
    const { status } = refusalOutside(request.method);
    const response = responseTo(request, status, REASONS[status]);
    tag ??= context.token();
    response.headers.set("To", withTag(to, tag));
    response.headers.add("Server", context.options.identity.product);
    return response;
  };
}
