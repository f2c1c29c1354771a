import { SipHeaders } from "../message/headers.ts";
import { parseNameAddr, tagOf, withTag } from "../message/name-addr.ts";
import { responseTo, type SipRequest, type SipResponse, sipRequest } from "../message/sip-message.ts";
import { withoutPort } from "../message/uri.ts";
import type { IncomingRequest } from "../transaction/transactions.ts";
import type { Flow } from "../transport/transport.ts";
import { declineAnswer } from "./forks.ts";
import type { InviteRequest, InviteUsage } from "./invite.ts";
import { OutboundInvite } from "./outbound-invite.ts";
import { REASONS, refusalOutside } from "./refusals.ts";
import { UacRequest } from "./uac-request.ts";
import { AgentContext } from "./user-agent-context.ts";
import {
  type AgentReply,
  type AgentRequest,
  CAPABILITIES,
  type RequestSeries,
  type UserAgent,
  type UserAgentOptions,
  unknownExtensions,
} from "./user-agent-options.ts";

/** The URI schemes of SIP and of telephone numbers; others are refused (RFC 3261 section 8.2.2.1). */
const TELEPHONE_URI = /^(?:sips?|tel):/i;

/** The user agent (RFC 3261 section 6) of one trunk; takes over the listener of its transactions. */
export function createUserAgent(options: UserAgentOptions): UserAgent {
  const context = new AgentContext(options);
  const calls = new Map<string, OutboundInvite>();

  const series = (): RequestSeries => ({ callId: context.token(16), fromTag: context.token(), cseq: 0 });

  options.transactions.listen({
    stateless: refuseStrayInvites(context),
    hasCall: (callId) => calls.has(callId),
    isOurs: (request) => calls.get(request.headers.get("Call-ID") ?? "")?.owns(request) === true,
    request(transaction) {
      const { headers } = transaction.request;
      const unknownTags = transaction.request.method === "ACK" ? [] : unknownExtensions(headers.list("Require"));
      if (unknownTags.length > 0)
        context.reply(transaction, 420, { headers: [["Unsupported", unknownTags.join(", ")]] });
      else if (calls.get(headers.get("Call-ID") ?? "")?.receive(transaction) !== true)
        respondOutside(context, transaction);
    },
    lateSuccess(response, flow) {
      const call = calls.get(response.headers.get("Call-ID") ?? "");
      if (call !== undefined) call.lateSuccess(response, flow);
      else declineStray(context, response, flow);
    },
    ackMissing(transaction) {
      calls.get(transaction.request.headers.get("Call-ID") ?? "")?.ackMissing(transaction);
    },
  });

  return {
    invite(request: InviteRequest): InviteUsage {
      const call = new OutboundInvite(context, request, ({ callId }) => calls.delete(callId));
      calls.set(call.callId, call);
      if (context.isClosed) void call.hangUp();
      return call;
    },
    request: (request, signal) => send(context, { ...request, series: request.series ?? series() }, signal),
    series,
    get calls() {
      return calls.size;
    },
    async close() {
      context.isClosed = true;
      await Promise.all([...calls.values()].map((call) => call.hangUp()));
      for (const termination of context.terminations) termination.stop();
    },
  };
}

/** Responds to a request that belongs to none of our calls. */
function respondOutside(context: AgentContext, transaction: IncomingRequest): void {
  const { method, uri, headers } = transaction.request;
  if (method === "ACK") return;
  if (tagOf(headers.get("To")) !== undefined) context.reply(transaction, 481);
  else if (!TELEPHONE_URI.test(uri)) context.reply(transaction, 416);
  else if (method === "OPTIONS") context.reply(transaction, 200, { headers: CAPABILITIES });
  else {
    const refusal = refusalOutside(method);
    context.reply(transaction, refusal.status, refusal);
  }
}

/** Declines a 2xx to the INVITE of an ended call: its sender waits for an ACK. */
function declineStray(context: AgentContext, response: SipResponse, flow: Flow): void {
  const uri = parseNameAddr(response.headers.get("To") ?? "")?.uri;
  if (uri !== undefined) declineAnswer(context, response, flow, { uri, authorization: [], callId: undefined });
}

/** Sends a request outside of any call. */
function send(
  context: AgentContext,
  request: AgentRequest & { readonly series: RequestSeries },
  signal: AbortSignal | undefined,
): Promise<AgentReply> {
  const { identity, routes = [], nextHop } = context.options;
  const {
    method,
    uri,
    to = `<${withoutPort(uri)}>`,
    from = identity.from,
    headers: extraHeaders = [],
    series,
    flow,
  } = request;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    let sentRequest = sipRequest(method, uri);
    const onAbort = (): void => {
      uacRequest.abandon();
      reject(signal?.reason);
    };
    const uacRequest = new UacRequest(
      context,
      () => {
        const headers = new SipHeaders().add("Max-Forwards", "70");
        for (const route of routes) headers.add("Route", route);
        headers
          .add("From", `${from};tag=${series.fromTag}`)
          .add("To", to)
          .add("Call-ID", series.callId)
          .add("CSeq", `${++series.cseq} ${method}`);
        for (const [name, value] of extraHeaders) headers.add(name, value);
        headers.add("User-Agent", identity.product);
        const fallback = nextHop(uri);
        return {
          request: sipRequest(method, uri, headers),
          to: flow?.isAlive === true ? flow : fallback,
          fallback,
          contact: true,
        };
      },
      {
        sent(request) {
          sentRequest = request;
        },
        final(response, flow) {
          signal?.removeEventListener("abort", onAbort);
          resolve({ response, flow, request: sentRequest, refusal: uacRequest.refusal });
        },
        failed(fault) {
          signal?.removeEventListener("abort", onAbort);
          reject(fault);
        },
      },
    );
    signal?.addEventListener("abort", onAbort, { once: true });
    uacRequest.send();
  });
}

/**
 * The response to an INVITE from outside, without a transaction (RFC 3261 section 8.2.7): scanners never acknowledge it,
 * and a transaction would retransmit it for 32 s. Undefined for other requests.
 */
function refuseStrayInvites(context: AgentContext): (request: SipRequest) => SipResponse | undefined {
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
