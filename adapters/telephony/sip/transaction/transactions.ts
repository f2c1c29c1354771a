import type { SipRequest, SipResponse } from "../message/message.ts";
import type { Flow, TransportError } from "../transport/transport.ts";

/**
 * What becomes of a request that was sent. All are called in turn, never before `request` has returned nor after `final` or
 * `failed`, and must not throw.
 */
export interface ClientListener {
  /**
   * Completes a copy of the request for the flow that it goes out on: a Contact of ours needs `sentBy`. Called before
   * every attempt, so once per hop that is tried; what it changes is on the wire and in `OutgoingRequest.request`.
   */
  prepare?(request: SipRequest, flow: Flow, sentBy: string): void;
  /** Asked each time before the request is sent or repeated: false holds it back. Left out: it may always be sent. */
  readonly maySend?: (() => boolean) | undefined;
  /** It is on its way: handed to this flow for the first time. */
  sent?(request: SipRequest, flow: Flow): void;
  /** 101 to 199; 100 is told as well. */
  provisional?(response: SipResponse, flow: Flow): void;
  /** 200 to 699. The ACK of a 300 to 699 to an INVITE has been sent; that of a 2xx is the listener's duty. */
  final(response: SipResponse, flow: Flow): void;
  /** No final response: timer B or F, or no hop took it (after all were tried, RFC 3263 section 4.3). */
  failed(fault: TransportError): void;
}

/** A request that was sent, up to its final response. */
export interface OutgoingRequest {
  /** As it is on the wire: with the Via of the hop that took it; as given until then. */
  readonly request: SipRequest;
  /** Whether a copy of it may have arrived at a hop that has given no final response. */
  readonly unanswered: boolean;
  /**
   * Sends a CANCEL for this INVITE (RFC 3261 section 9.1), as soon as a provisional response has come; never after a
   * final one. The INVITE's own final response, a 487 as a rule, still arrives, at the latest after 64 * T1 as `failed`.
   * Before it was sent at all: it never is, and `failed` is told. `reason`: the value of a Reason field (RFC 3326).
   */
  cancel(reason?: string): void;
  /** Nobody listens any more: what still comes is dealt with silently, with ACK where the RFC wants one. */
  abandon(): void;
}

/** A request that came, to be answered once finally. */
export interface IncomingRequest {
  readonly request: SipRequest;
  readonly flow: Flow;
  /**
   * Sends a response; the layer repeats it as the RFC says, a 2xx to an INVITE until its ACK comes
   * (RFC 3261 section 13.3.1.4). After a final response nothing more is sent.
   */
  respond(response: SipResponse): void;
  /** Whether a final response was given. */
  readonly done: boolean;
}

/** Who deals with what does not belong to a transaction that is under way. */
export interface TransactionListener {
  /** A new request. An ACK to our 2xx comes here as well and wants no answer; neither does a CANCEL: the layer has answered it. */
  request(transaction: IncomingRequest): void;
  /**
   * The response to a new request that needs no transaction: it is sent once and forgotten, so its To tag must be the
   * same each time (RFC 3261 section 8.2.7). Undefined, or left out: the request comes to `request`.
   */
  stateless?(request: SipRequest): SipResponse | undefined;
  /** Whether a live call has this Call-ID. */
  hasCall?(callId: string): boolean;
  /**
   * Whether a request belongs to a dialog of ours: there is room for it when there is none for others, and it may come
   * from any address.
   */
  ours?(request: SipRequest): boolean;
  /**
   * A 2xx to an INVITE whose transaction has had its final response: a copy, or another fork. It wants an ACK
   * (RFC 3261 section 13.2.2.4); whoever knows the dialog sends it.
   */
  lateSuccess(response: SipResponse, flow: Flow): void;
  /** No ACK has come for our 2xx to an INVITE within 64 * T1: the session wants a BYE (RFC 3261 section 13.3.1.4). */
  unacknowledged?(transaction: IncomingRequest): void;
}

/** The transaction layer of one trunk (RFC 3261 section 17, timers A to K; RFC 6026 for the 2xx). */
export interface Transactions {
  /**
   * Sends a request in a client transaction. It must carry everything but Via; Content-Length is set on the wire.
   * @param to the URI of the next hop: the outbound proxy, the topmost Route or the Request-URI; or the flow to keep to
   */
  request(request: SipRequest, to: string | Flow, listener: ClientListener): OutgoingRequest;
  /** Sends an ACK to a 2xx: outside of any transaction, with a new Via (RFC 3261 section 13.2.2.4). Fails silently. */
  ack(request: SipRequest, to: string | Flow): void;
  listen(listener: TransactionListener): void;
  /**
   * The flow that a request to this URI would take now.
   * @throws {TransportError} none of its places can be reached
   */
  flowTo(uri: string, signal: AbortSignal): Promise<Flow>;
  /** What we call ourselves on this flow in a Contact: `host[:port]`. */
  sentBy(flow: Flow): string;
  /** Ends every transaction (listeners are told `closed`) and the transports below; twice is fine. */
  close(): Promise<void>;
}
