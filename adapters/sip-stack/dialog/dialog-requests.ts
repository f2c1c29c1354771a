import { parseCSeq } from "../message/header-values.ts";
import type { SipResponse } from "../message/sip-message.ts";
import type { System } from "../ports.ts";
import type { Flow } from "../transport/transport.ts";
import { nextHop, type RequestParts, type SipDialog } from "./dialog.ts";
import { DialogTermination } from "./dialog-termination.ts";
import { UacRequest, type UacRequestListener } from "./uac-request.ts";
import type { AgentContext } from "./user-agent-context.ts";
import type { HeaderField } from "./user-agent-options.ts";

/** Number of INVITEs per dialog whose ACK credentials are kept, so that the ACK can be repeated. */
const MAX_ACKS = 4;

/** A request that we send within a dialog. */
export interface DialogRequest extends RequestParts {
  /** True if it carries our Contact. */
  readonly contact?: boolean;
}

/** Our requests within one dialog (RFC 3261 section 12.2.1), and the flow they take. */
export class DialogRequests {
  readonly #context: AgentContext;
  readonly #dialog: SipDialog;
  readonly #callId: string;
  readonly #inviteHop: string;
  readonly #pending = new Set<UacRequest>();
  /** The credentials that an ACK carries, by the CSeq of its INVITE. */
  readonly #acks = new Map<number, readonly HeaderField[]>();
  #flow: Flow;

  /**
   * @param callId the core's call id, for the trace
   * @param inviteHop the next hop of the INVITE
   * @param flow the flow that the peer's response arrived on
   */
  constructor(context: AgentContext, dialog: SipDialog, callId: string, inviteHop: string, flow: Flow) {
    this.#context = context;
    this.#dialog = dialog;
    this.#callId = callId;
    this.#inviteHop = inviteHop;
    this.#flow = flow;
  }

  /** Sends a request; answers challenges. */
  send(method: string, { contact = false, ...parts }: DialogRequest, listener: UacRequestListener): UacRequest {
    const uacRequest: UacRequest = new UacRequest(
      this.#context,
      () => {
        const headers = [...(parts.headers ?? []), this.#context.userAgent];
        const { request, next } = this.#dialog.request(method, { ...parts, headers });
        return { request, ...nextHop(next, this.#flow, this.#inviteHop), contact };
      },
      {
        ...listener,
        final: (response, flow) => {
          this.#pending.delete(uacRequest);
          this.#flow = flow;
          listener.final(response, flow);
        },
        failed: (fault) => {
          this.#pending.delete(uacRequest);
          listener.failed(fault);
        },
      },
      this.#callId,
    );
    uacRequest.send();
    this.#pending.add(uacRequest);
    return uacRequest;
  }

  /** Sends BYE. @param onResponse called after the first response, or when none can arrive */
  sendBye(headers: readonly HeaderField[], onResponse: () => void): void {
    new DialogTermination(this.#context, {
      flow: this.#flow,
      callId: this.#callId,
      compose: (useInviteHop) => {
        const { request, next } = this.#dialog.request("BYE", { headers: [...headers, this.#context.userAgent] });
        const hop = nextHop(next, this.#flow, this.#inviteHop);
        return { request, ...(useInviteHop ? { to: this.#inviteHop, fallback: this.#inviteHop } : hop) };
      },
      onResponse,
    });
  }

  /**
   * Acknowledges a 2xx to an INVITE.
   * @param authorization the credentials of the INVITE, which its ACK repeats (RFC 3261 section 22.1)
   */
  acknowledge(response: SipResponse, authorization: readonly HeaderField[]): void {
    const cseq = parseCSeq(response.headers.get("CSeq"))?.number;
    if (cseq === undefined) return;
    this.#acks.set(cseq, authorization);
    for (const oldest of this.#acks.keys()) if (this.#acks.size > MAX_ACKS) this.#acks.delete(oldest);
    const { request, next } = this.#dialog.ack(cseq, [...authorization, this.#context.userAgent]);
    const { to } = nextHop(next, this.#flow, this.#inviteHop);
    this.#context.withholdCredentials(request, to);
    this.#context.transactions.ack(request, to);
    this.#context.trace(this.#callId, "sent", request);
  }

  /** Repeats the ACK for a retransmitted 2xx. */
  acknowledgeAgain(response: SipResponse): void {
    const authorization = this.#acks.get(parseCSeq(response.headers.get("CSeq"))?.number ?? -1);
    if (authorization !== undefined) this.acknowledge(response, authorization);
  }

  /** Sends later requests on this flow, since the peer's response arrived on it. */
  useFlow(flow: Flow): void {
    this.#flow = flow;
  }

  /** Ignores the responses to all pending requests. */
  abandon(): void {
    for (const uacRequest of this.#pending) uacRequest.abandon();
    this.#pending.clear();
  }
}

/** Maximum time for a peer to respond, ms. */
const PROBE_LIMIT_MS = 4_000;

/**
 * Responses from a peer that does not know the dialog, and from a proxy that cannot reach the peer (RFC 3261 section
 * 12.2.1.2).
 */
const UNKNOWN_DIALOG: ReadonlySet<number> = new Set([408, 481]);

/**
 * Sends OPTIONS within a dialog (RFC 3261 section 11). Resolves with undefined if the peer knows the dialog, whatever
 * its response, or if the call ends; otherwise with the evidence that the peer does not know it.
 */
export function probeDialog(
  requests: DialogRequests,
  system: Pick<System, "after">,
  maySend?: () => boolean,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const cancel = system.after(PROBE_LIMIT_MS, () =>
      settle(`did not respond to OPTIONS for ${PROBE_LIMIT_MS / 1_000} s`),
    );
    const settle = (fault: string | undefined): void => {
      cancel();
      resolve(fault);
    };
    requests.send(
      "OPTIONS",
      {},
      {
        maySend,
        final: ({ status }) => settle(UNKNOWN_DIALOG.has(status) ? `responded to OPTIONS with ${status}` : undefined),
        failed: ({ message }) => settle(`could not be probed by OPTIONS: ${message}`),
        abandoned: () => settle(undefined),
      },
    );
  });
}
