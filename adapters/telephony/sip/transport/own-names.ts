import { isIP } from "node:net";
import { type HostPort, parseHostPort, writeHostPort } from "../message/host-port.ts";
import { NewestMap } from "../newest-map.ts";
import { isPrivate } from "./private-address.ts";
import type { Flow, SocketAddress, TransportKind } from "./transport.ts";

const MOST_LEARNT = 256;

/** What we call ourselves in Via and Contact. */
export class OwnNames {
  readonly #public: HostPort | undefined;
  /** The port at which our own listener takes connections of a kind. */
  readonly #listening: (kind: TransportKind) => number | undefined;
  /** By peer: what it says that our address is. */
  readonly #learnt = new NewestMap<string, SocketAddress>(MOST_LEARNT);
  /** By the peer's address alone: a new connection there passes the same NAT. */
  readonly #seenBy = new NewestMap<string, string>(MOST_LEARNT);
  /** By our private address: the public one that the trunk's servers outside see, the latest. */
  readonly #outside = new NewestMap<string, string>(MOST_LEARNT);

  constructor(publicAddress: string | undefined, listening: (kind: TransportKind) => number | undefined) {
    this.#public = publicAddress === undefined ? undefined : readAddress(publicAddress);
    this.#listening = listening;
  }

  /**
   * The public address, or what the peer sees, or what the trunk's servers see if we are behind a NAT and it is outside
   * too, or what the flow is bound to. The port: as configured; where requests come on connections of their own, that of the
   * listener; else the one that the peer sees, or ours.
   */
  of(flow: Flow): string {
    const learnt = this.#learnt.get(keyOf(flow));
    const host = this.#public?.host ?? learnt?.address ?? this.#likely(flow) ?? flow.local.address;
    const listening = flow.reliable ? this.#listening(flow.kind) : undefined;
    const port = this.#public?.port ?? listening ?? learnt?.port ?? flow.local.port;
    return writeHostPort({ host, port });
  }

  /**
   * Remembers what a peer sees. What is no address, or as it was bound, is nothing new; and a peer behind a balancer may
   * see a private address of its own network, which is none of a socket with a public one.
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

  /** Our address for a flow on which no answer has come: of an earlier one to the same peer, or to another outside. */
  #likely(flow: Flow): string | undefined {
    const outside = isBehindNat(flow) ? this.#outside.get(flow.local.address) : undefined;
    return this.#seenBy.get(flow.remote.address) ?? outside;
  }
}

/** Whether an address of a private network reaches a peer outside of it: some NAT is in between. */
function isBehindNat({ local, remote }: Flow): boolean {
  return isPrivate(local.address) && !isPrivate(remote.address);
}

/** By connection, or by peer on UDP. */
function keyOf({ kind, local, remote }: Flow): string {
  return `${kind} ${kind === "udp" ? "" : local.port} ${remote.address} ${remote.port}`;
}

/** A public address as it is configured: an IPv6 address may stand without its brackets. */
function readAddress(text: string): HostPort {
  return (isIP(text) === 6 ? { host: text, port: undefined } : parseHostPort(text)) ?? { host: text, port: undefined };
}
