import { isIP } from "node:net";
import { parseUri, type SipUri } from "../message/uri.ts";
import type { System } from "../ports.ts";
import { cachedDns, type Dns, nodeDns, type Resolve } from "./dns.ts";
import { hasIpv6 } from "./own-addresses.ts";
import { defaultPort, type Hop, TransportError, type TransportKind, unlessAborted } from "./transport.ts";

/** Options of {@link createResolve}. */
interface ResolveOptions {
  readonly system: System;
  /** The DNS; this resolver does not cache its answers. Default: the runtime's resolver, cached for 30 s. */
  readonly dns?: Dns | undefined;
  /** True if a name's IPv6 addresses are usable. Default: true if this machine has a global IPv6 address. */
  readonly ipv6?: (() => boolean) | undefined;
}

/** The name that SRV records are queried by, and their transport. */
interface Service {
  readonly kind: TransportKind;
  readonly name: string;
}

const LABELS: Readonly<Record<TransportKind, string>> = { udp: "_sip._udp", tcp: "_sip._tcp", tls: "_sips._tcp" };
const NAPTR_SERVICES: ReadonlyMap<string, TransportKind> = new Map(
  Object.entries<TransportKind>({
    "SIP+D2U": "udp",
    "SIP+D2T": "tcp",
    "SIPS+D2T": "tls",
  }),
);
const MAX_HOPS = 16;

/** Creates the resolver of URIs (RFC 3263 section 4). */
export function createResolve({ system, dns = cachedDns(nodeDns, system), ipv6 = hasIpv6 }: ResolveOptions): Resolve {
  return async (text, signal) => {
    const uri = parseUri(text);
    if (uri === undefined) throw new TransportError("dns", `${text} is not a SIP URI`);
    const host = uri.params.get("maddr") || uri.host;
    const hops = await unlessAborted(findHops(uri, host), signal);
    const usableHops = hops.filter(
      ({ address }) => isIP(host) !== 0 || isIP(address) === 4 || isLoopback(address) || ipv6(),
    );
    if (usableHops.length > 0) return usableHops.slice(0, MAX_HOPS);
    throw new TransportError(
      "dns",
      hops.length === 0
        ? `${host} has no address in the DNS; check its spelling`
        : `${host} has IPv6 addresses only, and this machine has none`,
      { isPermanent: hops.length === 0 },
    );
  };

  /** All hops, best first, with addresses of both families. */
  async function findHops(uri: SipUri, host: string): Promise<Hop[]> {
    const namedKind = namedTransport(uri);
    const isSecure = uri.scheme === "sips";
    const kind = namedKind ?? (isSecure ? "tls" : "udp");
    const isTransportFixed = namedKind !== undefined;
    if (isIP(host) !== 0 || uri.port !== undefined)
      return addressHops(host, { kind, host: uri.host, isTransportFixed, port: uri.port ?? defaultPort(kind) });
    const defaultServices = usualServices(host, namedKind === undefined ? kindsOf(isSecure) : [kind]);
    // All queries run concurrently: a resolver that drops those for NAPTR and SRV costs only one timeout.
    for (const { name } of defaultServices) dns.srv(name).catch(() => {});
    const directHops = addressHops(host, { kind, host: uri.host, isTransportFixed, port: defaultPort(kind) });
    directHops.catch(() => {}); // needed only without SRV records
    const services = (namedKind === undefined && (await naptrServices(host, isSecure))) || defaultServices;
    const hopLists = await Promise.all(services.map((service) => serviceHops(service, uri.host, isTransportFixed)));
    const hops = hopLists.flat();
    return hops.length > 0 ? hops : directHops;
  }

  /** The services from NAPTR records (RFC 3263 section 4.1); undefined if there are none. */
  async function naptrServices(domain: string, isSecure: boolean): Promise<Service[] | undefined> {
    const records = await dns.naptr(domain).catch(() => []); // not supported by the resolver: treated as no records
    const services = [...records]
      .sort((a, b) => a.order - b.order || a.preference - b.preference)
      .flatMap(({ service, replacement }) => {
        const kind = NAPTR_SERVICES.get(service.toUpperCase());
        return kind === undefined || (isSecure && kind !== "tls") ? [] : [{ kind, name: replacement }];
      });
    return services.length > 0 ? services : undefined;
  }

  async function serviceHops({ kind, name }: Service, host: string, isTransportFixed: boolean): Promise<Hop[]> {
    const records = await dns.srv(name).catch(() => []); // treated as no records too
    const servers = srvOrder(records, system);
    const hops = await Promise.all(
      servers.map(({ name: server, port }) =>
        addressHops(server, { kind, host, isTransportFixed, port }).catch(() => []),
      ),
    );
    return hops.flat();
  }

  async function addressHops(server: string, hopParts: Omit<Hop, "address">): Promise<Hop[]> {
    let addresses: readonly string[];
    try {
      addresses = isIP(server) !== 0 ? [server] : await dns.addresses(server);
    } catch (cause) {
      const { message } = cause as Error;
      throw new TransportError("dns", `the DNS query for ${server} failed: ${message}`, { cause });
    }
    return addresses.map((address) => ({ ...hopParts, address }));
  }
}

/** The SRV names for these transports, used without NAPTR records. */
function usualServices(domain: string, kinds: readonly TransportKind[]): Service[] {
  return kinds.map((kind) => ({ kind, name: `${LABELS[kind]}.${domain}` }));
}

/** Every transport that the scheme allows, in our order. */
function kindsOf(isSecure: boolean): readonly TransportKind[] {
  return isSecure ? ["tls"] : ["udp", "tcp", "tls"];
}

/** The transport parameter of the URI; `sips` turns TCP into TLS (RFC 3261 section 26.2.2). */
function namedTransport({ scheme, params }: SipUri): TransportKind | undefined {
  const transport = params.get("transport")?.toLowerCase();
  if (transport === undefined) return undefined;
  if (transport === "tls" || (transport === "tcp" && scheme === "sips")) return "tls";
  if (transport === "tcp" || (transport === "udp" && scheme === "sip")) return transport;
  throw new TransportError("dns", `transport=${transport} of a ${scheme} URI is not supported; use udp, tcp or tls`);
}

function isLoopback(address: string): boolean {
  return address === "::1";
}

/** An SRV record (RFC 2782). */
interface SrvRecord {
  readonly priority: number;
  readonly weight: number;
  readonly name: string;
  readonly port: number;
}

/**
 * The order in which to try the servers: lowest priority first, and a weighted random order among equals (RFC 2782). A
 * name of `.` means that the service is not available.
 */
export function srvOrder(records: readonly SrvRecord[], system: System): SrvRecord[] {
  const remainingRecords = records
    .filter(({ name }) => name !== "" && name !== ".")
    // Records without weight come first; otherwise they would never be drawn.
    .sort((a, b) => a.priority - b.priority || Math.sign(a.weight) - Math.sign(b.weight));
  const orderedRecords: SrvRecord[] = [];
  while (remainingRecords.length > 0) {
    const { priority } = remainingRecords[0] as SrvRecord;
    const candidates = remainingRecords.filter((record) => record.priority === priority);
    const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
    const threshold = draw(system, total);
    let sum = 0;
    const nextRecord = candidates.find(({ weight }) => {
      sum += weight;
      return sum >= threshold;
    }) as SrvRecord;
    orderedRecords.push(nextRecord);
    remainingRecords.splice(remainingRecords.indexOf(nextRecord), 1);
  }
  return orderedRecords;
}

/** A uniformly distributed whole number from 0 to `max`. */
function draw(system: System, max: number): number {
  const bytes = new Uint8Array(6);
  system.random(bytes);
  const value = bytes.reduce((number, byte) => number * 256 + byte, 0);
  return Math.floor((value / 2 ** 48) * (max + 1));
}
