import { parseCSeq } from "../message/cseq.ts";
import type { SipResponse } from "../message/message.ts";
import type { Flow } from "../transport/transport.ts";
import type { HeaderField } from "./agent.ts";
import type { AgentContext } from "./agent-context.ts";
import { Dialog } from "./dialog.ts";
import { DialogTermination } from "./dialog-termination.ts";
import { nextHop } from "./next-hop.ts";

/** The INVITE that a stray 2xx belongs to, as far as known. */
export interface StrayInvite {
  /** Its Request-URI. */
  readonly uri: string;
  readonly authorization: readonly HeaderField[];
  /** The core's id of the call, for the trace. */
  readonly callId: string | undefined;
}

/**
 * Declines a 2xx of another fork, or one that came too late: sends ACK and BYE (RFC 3261 section 13.2.2.4).
 */
export function declineAnswer(context: AgentContext, response: SipResponse, flow: Flow, invite: StrayInvite): void {
  const cseq = parseCSeq(response.headers.get("CSeq"));
  if (cseq === undefined || cseq.method !== "INVITE") return;
  const { authorization, callId } = invite;
  context.options.logger.info({ callId, sipCallId: response.headers.get("Call-ID") }, "sip: hanging up a stray answer");
  const dialog = new Dialog(invite.uri, response);
  const first = context.options.nextHop(invite.uri);
  const ack = dialog.ack(cseq.number, [...authorization, context.userAgent]);
  const { to } = nextHop(ack.next, flow, first);
  context.withhold(ack.request, to);
  context.transactions.ack(ack.request, to);
  context.trace(callId, "sent", ack.request);
  new DialogTermination(context, {
    flow,
    callId,
    compose: (elsewhere) => {
      const { request, next } = dialog.request("BYE", { headers: [context.userAgent] });
      return { request, ...(elsewhere ? { to: first, otherwise: first } : nextHop(next, flow, first)) };
    },
    answered() {},
  });
}
