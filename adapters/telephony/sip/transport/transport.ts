import type { SipMessage, SipRequest } from "../message/message.ts";

export type TransportKind = "udp" | "tcp" | "tls";

/** An address as it was resolved, never a name. */
export interface SocketAddress {
  /** IPv4 or IPv6, the latter without brackets. */
  readonly address: string;
  readonly port: number;
}

/** Both as one text, to look it up by. */
export function addressAndPort({ address, port }: SocketAddress): string {
  return `${address} ${port}`;
}

/** Where a request may be sent: one of the places that a URI resolves to (RFC 3263 section 4). */
export interface Hop extends SocketAddress {
  readonly kind: TransportKind;
  /** The name that was resolved: what a TLS certificate must be for. */
  readonly host: string;
  /** The URI names the transport itself: a long message stays on UDP all the same. */
  readonly fixed?: boolean;
}

/** A way to one peer: a connection of TCP or TLS, or a peer's address on our UDP socket. */
export interface Flow {
  readonly kind: TransportKind;
  /** As our side of it is bound. */
  readonly local: SocketAddress;
  readonly remote: SocketAddress;
  /** Whether messages can still be sent on it. A UDP flow is alive as long as its socket. */
  readonly alive: boolean;
  /** Whether somebody else repeats what is lost: TCP and TLS (RFC 3261 section 17: then no request is repeated). */
  readonly reliable: boolean;
  /**
   * Hands a message to the network. What fails is reported by `closed`; a flow that is gone throws a TransportError.
   * @param maySend asked last, when the message is written: false keeps it back; default: nothing does
   * @returns whether it was handed over
   */
  send(message: SipMessage, maySend?: () => boolean): boolean;
  /**
   * Keeps the connection, and the way through a NAT, open while nothing is said: for a call, for a registration. The far
   * side hears a CRLF now and then (RFC 5626). The answer lets go; twice is fine.
   */
  hold(): () => void;
  /** Whether a message has ever come on this connection: it has worked, and may turn out dead. UDP has none. */
  readonly spoken?: boolean;
  /** Starts to watch a connection. UDP has none: the next datagram may find somebody. */
  watch?(): FlowWatch;
}

/** What has come on a connection since somebody began to watch it. */
export interface FlowWatch {
  /** No bytes have come. */
  readonly silent: boolean;
  /** Closes the connection with this fault if no bytes have come; reports whether it did. */
  close(fault: TransportError): boolean;
}

/** Who is told what arrives. Neither may throw. */
export interface TransportListener {
  message(message: SipMessage, flow: Flow): void;
  /**
   * The connection is gone, with everything on it. A flow of UDP is told of as well when the network says that nobody is
   * there (`refused`, `unreachable`): it stays `alive`, since the next datagram may find somebody.
   */
  closed(flow: Flow, fault: TransportError): void;
  /**
   * Whether a live call has this Call-ID. A request from an unexpected address is parsed only if it has one of these.
   * Left out: none is.
   */
  hasCall?(callId: string): boolean;
  /** Whether a request belongs to a dialog of ours; then it is taken from an unexpected address too. Left out: none does. */
  ours?(request: SipRequest): boolean;
}

/** Why a message could not be sent. */
export type TransportFault = "refused" | "unreachable" | "timeout" | "tls" | "dns" | "closed" | "limit";

/** The network below SIP failed; the message names the peer and, where there is one, the fix. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly fault: TransportFault;
  /** It will not pass until somebody mends it: an untrusted certificate, a name that does not exist. */
  readonly lasting: boolean;
  constructor(fault: TransportFault, detail: string, options: ErrorOptions & { readonly lasting?: boolean } = {}) {
    super(detail, options);
    this.fault = fault;
    this.lasting = options.lasting ?? false;
  }
}

/** All sockets of one trunk. */
export interface Transports {
  /**
   * The flow to this hop: an open connection is used again.
   * @param dead a connection that is not: another one takes its place, and it stays open for those who use it
   * @throws {TransportError} none could be made in time
   */
  connect(hop: Hop, signal: AbortSignal, dead?: Flow): Promise<Flow>;
  /** Requests over UDP are taken from these places too; those of any other address are dropped, unless the trunk listens there. */
  expect?(hops: readonly Hop[]): void;
  /**
   * What we call ourselves on this flow in Via and Contact: `host[:port]`, IPv6 in brackets; the public address where
   * one is configured or was learnt (RFC 3581), else the address the flow is bound to.
   */
  sentBy(flow: Flow): string;
  /**
   * What the far side reports as our address on this flow: `received` and `rport` of a response that is surely one to us.
   * @param trusted it is the trunk's own server, so the address holds for other servers too. Default: false
   */
  seen(flow: Flow, address: SocketAddress, trusted?: boolean): void;
  listen(listener: TransportListener): void;
  /** Resolves when the trunk's own listener takes connections; at once where it has none. @throws {TransportError} its port is taken */
  ready(): Promise<void>;
  /** Closes every socket; twice is fine. */
  close(): Promise<void>;
}

/** The port where a URI or a Via names none (RFC 3261 section 19.1.2). */
export function defaultPort(kind: TransportKind): number {
  return kind === "tls" ? 5061 : 5060;
}
