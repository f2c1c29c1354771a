import type { SipMessage, SipRequest } from "../message/sip-message.ts";
import { CodedError, errorText } from "../ports.ts";

export type TransportKind = "udp" | "tcp" | "tls";

/** A resolved address, never a name. */
export interface SocketAddress {
  /** IPv4 or IPv6, the latter without brackets. */
  readonly address: string;
  readonly port: number;
}

/** Address and port as one string, for use as a key. */
export function addressAndPort({ address, port }: SocketAddress): string {
  return `${address} ${port}`;
}

/** A hop of a request: one transport, address and port that a URI resolves to (RFC 3263 section 4). */
export interface Hop extends SocketAddress {
  readonly kind: TransportKind;
  /** The name that was resolved, which a TLS certificate must contain. */
  readonly host: string;
  /** True if the URI has a transport parameter: a long message then stays on UDP. */
  readonly isTransportFixed?: boolean;
}

/** A flow (RFC 5626): a TCP or TLS connection, or a peer's address on our UDP socket. */
export interface Flow {
  readonly kind: TransportKind;
  /** The address that our socket is bound to. */
  readonly local: SocketAddress;
  readonly remote: SocketAddress;
  /** True if messages can still be sent on it. A UDP flow is alive as long as its socket. */
  readonly isAlive: boolean;
  /** True if the transport is reliable: TCP and TLS. Requests are retransmitted only on an unreliable one. */
  readonly reliable: boolean;
  /**
   * Hands a message to the network; a fault is reported by `closed`.
   * @param maySend called last, when the message is written: false suppresses it
   * @returns true if it was handed over
   * @throws {TransportError} the flow is closed
   */
  send(message: SipMessage, maySend?: () => boolean): boolean;
  /**
   * Keeps the connection and its NAT binding open with CRLF keep-alives (RFC 5626), for a call or a registration.
   * Returns an idempotent function that releases the flow.
   */
  hold(): () => void;
  /** True once a message has arrived on this connection, even if the connection is dead now. Undefined on UDP. */
  readonly hasSpoken?: boolean;
  /** Starts watching a connection. Undefined on UDP, where the next datagram may arrive again. */
  watch?(): FlowWatch;
}

/** Watches for data on a connection since `watch` was called. */
export interface FlowWatch {
  /** True if no data has arrived. */
  readonly isSilent: boolean;
  /** Closes the connection with this fault if no data has arrived; returns true if it did. */
  close(fault: TransportError): boolean;
}

/** Receives messages and faults of the transport. Callbacks must not throw. */
export interface TransportListener {
  message(message: SipMessage, flow: Flow): void;
  /**
   * The connection is closed. On UDP the network has reported the peer as `refused` or `unreachable`: the flow stays
   * `isAlive`, since the next datagram may arrive.
   */
  closed(flow: Flow, fault: TransportError): void;
  /** True if a live call has this Call-ID: only then is a request from an unexpected address parsed. Default: never. */
  hasCall?(callId: string): boolean;
  /** True if a request belongs to one of our dialogs and may come from an unexpected address. Default: never. */
  isOurs?(request: SipRequest): boolean;
}

/** Reason why a message could not be sent. */
export type TransportFault = "refused" | "unreachable" | "timeout" | "tls" | "dns" | "closed" | "limit";

/** A fault of the network below SIP; the message names the peer and, if there is one, the fix. */
export class TransportError extends CodedError {
  override readonly name = "TransportError";
  readonly code = "transport_failed";
  readonly fault: TransportFault;
  /** True if the fault lasts until it is fixed: an untrusted certificate, a name that does not exist. */
  readonly isPermanent: boolean;
  constructor(fault: TransportFault, detail: string, options: ErrorOptions & { readonly isPermanent?: boolean } = {}) {
    super(detail, options);
    this.fault = fault;
    this.isPermanent = options.isPermanent ?? false;
  }
}

/** All sockets of one trunk. */
export interface Transports {
  /**
   * The flow to this hop: an open connection is reused.
   * @param deadFlow a connection that is not reused, but stays open for its other users
   * @throws {TransportError} no connection could be opened in time
   */
  connect(hop: Hop, signal: AbortSignal, deadFlow?: Flow): Promise<Flow>;
  /**
   * Also accepts requests over UDP from these hops; requests from other addresses are dropped unless the trunk listens
   * on UDP.
   */
  expect?(hops: readonly Hop[]): void;
  /**
   * Our host and port in Via and Contact on this flow: `host[:port]`, IPv6 in brackets; the public address if one is
   * configured or was learned (RFC 3581), otherwise the address the flow is bound to.
   */
  sentBy(flow: Flow): string;
  /**
   * Learns our address as the peer sees it on this flow: `received` and `rport` of a response that matches our branch.
   * @param isTrusted true for the trunk's own server: the address is then used for other servers too. Default: false
   */
  learnAddress(flow: Flow, address: SocketAddress, isTrusted?: boolean): void;
  listen(listener: TransportListener): void;
  /** Resolves when the trunk's own listener, if any, accepts connections. @throws {TransportError} its port is taken */
  ready(): Promise<void>;
  /** Closes every socket. Idempotent. */
  close(): Promise<void>;
}

/** The default port of a URI or a Via (RFC 3261 section 19.1.2). */
export function defaultPort(kind: TransportKind): number {
  return kind === "tls" ? 5061 : 5060;
}

/** Resolves like the promise; rejects with the fault `closed` as soon as the signal is aborted. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new TransportError("closed", "the operation was aborted"));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

type Meaning = readonly [fault: TransportFault, sentence: string];

/** Meanings of the system's error codes, with a fix for some. */
const ERROR_CODES: ReadonlyMap<string, Meaning> = new Map(
  Object.entries<Meaning>({
    ECONNREFUSED: ["refused", "nothing listens on this port"],
    ECONNRESET: ["closed", "the peer reset the connection"],
    EPIPE: ["closed", "the peer closed the connection"],
    ETIMEDOUT: ["timeout", "no answer to the connection attempt"],
    EHOSTUNREACH: ["unreachable", "there is no route to this host"],
    ENETUNREACH: ["unreachable", "there is no route to this network"],
    EADDRNOTAVAIL: ["unreachable", "this machine does not have the configured address"],
    EAFNOSUPPORT: ["unreachable", "this machine has no address of this family"],
    EMSGSIZE: ["unreachable", "the message is too long for a datagram; use a server with transport=tcp"],
    EPERM: ["unreachable", "a firewall on this machine forbids it"],
    EACCES: ["unreachable", "permission denied; ports below 1024 are for privileged programs"],
    EADDRINUSE: ["refused", "another program uses this port"],
    EMFILE: ["limit", "this program has too many open files and sockets"],
    ENFILE: ["limit", "this machine has too many open files and sockets"],
    ENOBUFS: ["limit", "this machine has no buffer space left"],
  }),
);

/** Converts a runtime error to a TransportError that names the action, the fault and the cause. */
export function networkFault(cause: unknown, action: string, fallback: TransportFault = "unreachable"): TransportError {
  if (cause instanceof TransportError) return cause;
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const meaning = typeof code === "string" ? ERROR_CODES.get(code) : undefined;
  const sentence = meaning?.[1] ?? (typeof message === "string" && message !== "" ? message : String(cause));
  return new TransportError(meaning?.[0] ?? fallback, `${action}: ${sentence}`, { cause });
}

/** Converts a thrown value to a TransportError; `unreachable` for other errors. */
export function asTransportError(cause: unknown): TransportError {
  return cause instanceof TransportError ? cause : new TransportError("unreachable", errorText(cause), { cause });
}

/** `UDP 192.0.2.1 port 5060`, for messages. */
export function placeName(
  kind: string,
  { address, port }: { readonly address: string; readonly port: number },
): string {
  return `${kind.toUpperCase()} ${address} port ${port}`;
}
