import type { SipRequest, SipResponse } from "../message/sip-message.ts";
import type { Flow, TransportError } from "../transport/transport.ts";

/**
 * Receives the progress of a request. No callback is called before `request` has returned, or after `final` or
 * `failed`. Callbacks must not throw.
 */
export interface ClientTransactionListener {
  /**
   * Completes a copy of the request for a flow, since our Contact needs `sentBy`. Called once per attempted hop;
   * changes apply to the message on the wire and to `OutgoingRequest.request`.
   */
  prepare?(request: SipRequest, flow: Flow, sentBy: string): void;
  /** Called before the request is sent or retransmitted: false suppresses it. Default: always true. */
  readonly maySend?: (() => boolean) | undefined;
  /** The request has been handed to a flow for the first time. */
  sentRequest?(request: SipRequest, flow: Flow): void;
  /** 100 to 199. */
  provisional?(response: SipResponse, flow: Flow): void;
  /** 200 to 699. The ACK for a 300–699 response to an INVITE has been sent; the listener sends the ACK for a 2xx. */
  final(response: SipResponse, flow: Flow): void;
  /** No final response: timer B or F, or all hops have failed (RFC 3263 section 4.3). */
  failed(fault: TransportError): void;
}

/** A request that we sent, up to its final response. */
export interface OutgoingRequest {
  /** The request as last sent, with its Via; before that, as passed to `request`. */
  readonly request: SipRequest;
  /** True if a copy of it may have arrived at a hop that has sent no final response. */
  readonly isUnanswered: boolean;
  /**
   * Sends a CANCEL for this INVITE (RFC 3261 section 9.1), as soon as a provisional response has arrived; never after a
   * final one. The INVITE's own final response, usually a 487, still arrives; without one `failed` is called after 64 *
   * T1. An INVITE that has not been sent yet is never sent, and `failed` is called.
   * @param reason the value of a Reason field (RFC 3326)
   */
  cancel(reason?: string): void;
  /** Stops calling the listener; later responses are acknowledged as the RFC requires. */
  abandon(): void;
}

/** A request from a peer, which gets one final response. */
export interface IncomingRequest {
  readonly request: SipRequest;
  readonly flow: Flow;
  /**
   * Sends a response; the layer retransmits it as the RFC requires, a 2xx to an INVITE until its ACK arrives (RFC 3261
   * section 13.3.1.4). Ignored after a final response.
   */
  respond(response: SipResponse): void;
  /** True if a final response has been sent. */
  readonly hasFinalResponse: boolean;
}

/** Receives the messages outside of pending transactions: the transaction user of RFC 3261 section 17. */
export interface TransactionListener {
  /** A new request, or an ACK for our 2xx, which gets no response. The layer itself responds to CANCEL. */
  request(transaction: IncomingRequest): void;
  /**
   * The response to a new request without a transaction: it is built again for each retransmission, so its To tag must
   * be the same each time (RFC 3261 section 8.2.7). If undefined or missing, the request is passed to `request`.
   */
  stateless?(request: SipRequest): SipResponse | undefined;
  /** True if a live call has this Call-ID. */
  hasCall?(callId: string): boolean;
  /**
   * True if a request belongs to one of our dialogs: it is accepted from any address and regardless of the limit.
   */
  isOurs?(request: SipRequest): boolean;
  /**
   * A 2xx to an INVITE whose transaction already has a final response: a retransmission, or another fork. The listener
   * sends the ACK (RFC 3261 section 13.2.2.4).
   */
  lateSuccess(response: SipResponse, flow: Flow): void;
  /** Our 2xx to an INVITE got no ACK within 64 * T1: the listener sends BYE (RFC 3261 section 13.3.1.4). */
  ackMissing?(transaction: IncomingRequest): void;
}

/** The transaction layer of one trunk (RFC 3261 section 17, timers A to K; RFC 6026 for the 2xx). */
export interface Transactions {
  /**
   * Sends a request in a client transaction. It must be complete except for Via; Content-Length is set on the wire.
   * @param to the URI of the next hop: the outbound proxy, the topmost Route or the Request-URI; or a flow
   */
  request(request: SipRequest, to: string | Flow, listener: ClientTransactionListener): OutgoingRequest;
  /**
   * Sends an ACK for a 2xx, outside of any transaction and with a new Via (RFC 3261 section 13.2.2.4). Fails silently.
   */
  ack(request: SipRequest, to: string | Flow): void;
  listen(listener: TransactionListener): void;
  /**
   * The flow that a request to this URI would take now.
   * @throws {TransportError} none of its hops can be reached
   */
  flowTo(uri: string, signal: AbortSignal): Promise<Flow>;
  /** Our host and port in a Contact on this flow: `host[:port]`. */
  sentBy(flow: Flow): string;
  /** Ends every transaction (with the fault `closed`) and closes the transports. Idempotent. */
  close(): Promise<void>;
}
