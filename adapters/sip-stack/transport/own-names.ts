import { isIP } from "node:net";
import { type HostPort, parseHostPort, writeHostPort } from "../message/host-port.ts";
import { BoundedMap } from "../ports.ts";
import { isPrivate } from "./private-address.ts";
import type { Flow, SocketAddress, TransportKind } from "./transport.ts";

const MOST_LEARNT = 256;

/** Our host and port in Via (sent-by, RFC 3261 section 18.1.1) and Contact. */
export class OwnNames {
  readonly #public: HostPort | undefined;
  /** The port on which our own listener accepts connections of a kind. */
  readonly #listening: (kind: TransportKind) => number | undefined;
  /** By peer: our address as it reports it. */
  readonly #learnt = new BoundedMap<string, SocketAddress>(MOST_LEARNT);
  /** By the peer's address alone: a new connection there passes the same NAT. */
  readonly #seenBy = new BoundedMap<string, string>(MOST_LEARNT);
  /** By our private address: the public one that the trunk's servers outside see, the latest. */
  readonly #outside = new BoundedMap<string, string>(MOST_LEARNT);

  constructor(publicAddress: string | undefined, listening: (kind: TransportKind) => number | undefined) {
    this.#public = publicAddress === undefined ? undefined : readAddress(publicAddress);
    this.#listening = listening;
  }

  /**
   * The host: the public address, or what the peer sees, or what the trunk's servers see if the peer is also outside of our
   * NAT, or what the flow is bound to. The port: as configured; that of the listener for its transport; else the one that
   * the peer sees, or ours.
   */
  of(flow: Flow): string {
    const learnt = this.#learnt.get(keyOf(flow));
    const host = this.#public?.host ?? learnt?.address ?? this.#likely(flow) ?? flow.local.address;
    const listening = flow.reliable ? this.#listening(flow.kind) : undefined;
    const port = this.#public?.port ?? listening ?? learnt?.port ?? flow.local.port;
    return writeHostPort({ host, port });
  }

  /**
   * Remembers our address as a peer sees it. An invalid or a known address is ignored; so is a private address for a
   * socket with a public one, which a peer behind a load balancer may report.
   * @param trusted the peer is the trunk's server, so what it reports holds for others too. Default: false
   */
  seen(flow: Flow, { address, port }: SocketAddress, trusted = false): void {
    if (isIP(address) === 0 || port < 1 || port > 65_535) return;
    if (isPrivate(address) && !isPrivate(flow.local.address)) return;
    this.#seenBy.set(flow.remote.address, address);
    if (trusted && isBehindNat(flow) && !isPrivate(address)) this.#outside.set(flow.local.address, address);
    const key = keyOf(flow);
    const known = this.#learnt.get(key) ?? flow.local;
    if (known.address === address && known.port === port) return;
    this.#learnt.set(key, { address, port });
  }

  /** Our likely address on a flow without a response: from an earlier flow to the same peer, or to another one outside. */
  #likely(flow: Flow): string | undefined {
    const outside = isBehindNat(flow) ? this.#outside.get(flow.local.address) : undefined;
    return this.#seenBy.get(flow.remote.address) ?? outside;
  }
}

/** Whether a private address reaches a public one, so that a NAT is in between. */
function isBehindNat({ local, remote }: Flow): boolean {
  return isPrivate(local.address) && !isPrivate(remote.address);
}

/** The key of a connection, or of a peer on UDP. */
function keyOf({ kind, local, remote }: Flow): string {
  return `${kind} ${kind === "udp" ? "" : local.port} ${remote.address} ${remote.port}`;
}

/** Reads the configured public address; an IPv6 address may omit its brackets. */
function readAddress(text: string): HostPort {
  return (isIP(text) === 6 ? { host: text, port: undefined } : parseHostPort(text)) ?? { host: text, port: undefined };
}
