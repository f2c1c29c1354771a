import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { type HostPort, parseHostPort, writeHostPort } from "../message/uri.ts";
import { BoundedMap } from "../ports.ts";
import { isPrivate } from "./addresses.ts";
import type { Flow, SocketAddress, TransportKind } from "./transport.ts";

const MAX_ADDRESSES = 256;

/** Our host and port in Via (sent-by, RFC 3261 section 18.1.1) and Contact. */
export class OwnNames {
  readonly #publicAddress: HostPort | undefined;
  /** The port on which our own listener accepts connections of this kind. */
  readonly #listenerPort: (kind: TransportKind) => number | undefined;
  /** Our address as reported by each peer. */
  readonly #reportedAddresses = new BoundedMap<string, SocketAddress>(MAX_ADDRESSES);
  /** Our address by the peer's address alone: a new connection there passes the same NAT. */
  readonly #addressByPeer = new BoundedMap<string, string>(MAX_ADDRESSES);
  /** The latest public address that the trunk's external servers see, by our private one. */
  readonly #publicByLocal = new BoundedMap<string, string>(MAX_ADDRESSES);

  constructor(publicAddress: string | undefined, listenerPort: (kind: TransportKind) => number | undefined) {
    this.#publicAddress = publicAddress === undefined ? undefined : readAddress(publicAddress);
    this.#listenerPort = listenerPort;
  }

  /**
   * The host: the public address, or our address as the peer sees it, or as the trunk's servers see it if the peer is
   * also outside our NAT, or the address that the flow is bound to. The port: as configured; otherwise the listener's
   * for its transport; otherwise the port that the peer sees, or our local port.
   */
  nameFor(flow: Flow): string {
    const reported = this.#reportedAddresses.get(keyOf(flow));
    const host = this.#publicAddress?.host ?? reported?.address ?? this.#likelyHost(flow) ?? flow.local.address;
    const boundPort = flow.reliable ? this.#listenerPort(flow.kind) : undefined;
    const port = this.#publicAddress?.port ?? boundPort ?? reported?.port ?? flow.local.port;
    return writeHostPort({ host, port });
  }

  /**
   * Remembers our address as a peer sees it. Ignores an invalid or known address, and a private address for a socket
   * with a public one, which a peer behind a load balancer may report.
   * @param isTrusted true for the trunk's server: the address it reports then applies to other peers too. Default:
   * false
   */
  learn(flow: Flow, { address, port }: SocketAddress, isTrusted = false): void {
    if (isIP(address) === 0 || port < 1 || port > 65_535) return;
    if (isPrivate(address) && !isPrivate(flow.local.address)) return;
    this.#addressByPeer.set(flow.remote.address, address);
    if (isTrusted && isBehindNat(flow) && !isPrivate(address)) this.#publicByLocal.set(flow.local.address, address);
    const key = keyOf(flow);
    const currentAddress = this.#reportedAddresses.get(key) ?? flow.local;
    if (currentAddress.address === address && currentAddress.port === port) return;
    this.#reportedAddresses.set(key, { address, port });
  }

  /**
   * Our likely address on a flow that has had no response: from an earlier flow to the same peer, or to another
   * external peer.
   */
  #likelyHost(flow: Flow): string | undefined {
    const publicAddress = isBehindNat(flow) ? this.#publicByLocal.get(flow.local.address) : undefined;
    return this.#addressByPeer.get(flow.remote.address) ?? publicAddress;
  }
}

/** True if a private address reaches a public address, which proves a NAT in between. */
function isBehindNat({ local, remote }: Flow): boolean {
  return isPrivate(local.address) && !isPrivate(remote.address);
}

/** The key of a connection, or of a UDP peer. */
function keyOf({ kind, local, remote }: Flow): string {
  return `${kind} ${kind === "udp" ? "" : local.port} ${remote.address} ${remote.port}`;
}

/** Reads the configured public address; an IPv6 address may be without brackets. */
function readAddress(text: string): HostPort {
  return (isIP(text) === 6 ? { host: text, port: undefined } : parseHostPort(text)) ?? { host: text, port: undefined };
}

interface Interface {
  readonly address: string;
  readonly internal: boolean;
  readonly cidr: string | null;
}

function interfacesOf(family: 4 | 6): Interface[] {
  try {
    const addresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    return addresses.filter(({ address }) => isIP(address) === family);
  } catch {
    return []; // no permission
  }
}

/**
 * The local address that a peer is reached from, for runtimes that do not report the address of a connected socket
 * (Deno): our address in the peer's network, otherwise the first one reachable from outside.
 */
export function interfaceAddress(peer: string): string | undefined {
  const family = peer.includes(":") ? 6 : 4;
  const interfaces = interfacesOf(family);
  const networkInterface = interfaces.find(({ cidr }) => cidr !== null && contains(cidr, peer, family));
  const externalInterface = interfaces.find(({ address, internal }) => !internal && !isLinkLocal(address));
  return (networkInterface ?? externalInterface)?.address;
}

/** True if this machine can reach the internet over IPv6: it has an IPv6 address other than loopback and link-local. */
export function hasIpv6(): boolean {
  return interfacesOf(6).some(({ address, internal }) => !internal && !isLinkLocal(address));
}

function contains(cidr: string, address: string, family: 4 | 6): boolean {
  const [network = "", bits = ""] = cidr.split("/");
  const type = family === 4 ? "ipv4" : "ipv6";
  try {
    const list = new BlockList();
    list.addSubnet(network, Number(bits), type);
    return list.check(address, type);
  } catch {
    return false;
  }
}

function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address);
}
