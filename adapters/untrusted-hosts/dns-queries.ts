import { promises as dns, type NaptrRecord, type SrvRecord } from "node:dns";
import { networkInterfaces } from "node:os";
import type { System } from "../../src/ports/system.ts";
import { type HostAddress, hostAddress } from "./host-address.ts";

/** Time until a query is repeated, ms; it is sent twice at most. */
const RETRY_MS = 1_500;
/** Time for which addresses of one family wait for those of the other (RFC 8305 section 3), ms. */
const OTHER_FAMILY_MS = 500;
/** Maximum number of records used per name. */
const MAX_RECORDS = 32;
/** The runtimes' error codes for a name or a record that does not exist. */
const NOT_FOUND_CODES: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA", "NOTFOUND", "NODATA", "NXDOMAIN"]);

/**
 * Queries the name servers; the result is empty for a name without records. Each ends with its signal, and leaves no
 * socket behind.
 */
export interface DnsQueries {
  /** IPv4 and IPv6 addresses, with a family that this machine supports first. */
  addresses(name: string, signal: AbortSignal): Promise<readonly HostAddress[]>;
  srv(name: string, signal: AbortSignal): Promise<readonly SrvRecord[]>;
  naptr(name: string, signal: AbortSignal): Promise<readonly NaptrRecord[]>;
}

/** Options of {@link dnsQueries}. */
export interface DnsQueriesOptions {
  readonly system: System;
  /** IP addresses, with or without a port. Default: the system's name servers. */
  readonly nameServers?: readonly string[] | undefined;
}

/**
 * Queries through c-ares, which every runtime includes, over event-loop sockets. `getaddrinfo`, which `dns.lookup` and
 * connections to a name call, would occupy one of the process's few threads until the query to a silent name server
 * times out.
 */
export function dnsQueries({ system, nameServers }: DnsQueriesOptions): DnsQueries {
  /**
   * Runs a query with its own resolver: it can only be cancelled as a whole, and follows changes to the system's
   * configuration.
   */
  async function withResolver<Value>(
    signal: AbortSignal,
    run: (resolver: dns.Resolver) => Promise<Value>,
  ): Promise<Value> {
    signal.throwIfAborted();
    const resolver = new dns.Resolver({ timeout: RETRY_MS, tries: 2 });
    if (nameServers !== undefined) resolver.setServers(nameServers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await run(resolver);
    } finally {
      signal.removeEventListener("abort", cancel);
      resolver.cancel(); // ends the query of the other family, if it is still running
    }
  }

  async function addresses(resolver: dns.Resolver, name: string): Promise<readonly HostAddress[]> {
    let cancelTimer = (): void => {};
    const queries = [resolver.resolve4(name), resolver.resolve6(name)].map(async (query) => {
      const records = await noneIfMissing(query);
      cancelTimer();
      // Some name servers never respond for a family that they do not support.
      if (records.length > 0) cancelTimer = system.after(OTHER_FAMILY_MS, () => resolver.cancel());
      return records;
    });
    const results = await Promise.allSettled(queries);
    cancelTimer();
    const records = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    const failure = results.find((result) => result.status === "rejected");
    if (records.length === 0 && failure !== undefined) throw failure.reason;
    return byFamily(records.map(hostAddress));
  }

  return {
    addresses: (name, signal) => withResolver(signal, (resolver) => addresses(resolver, name)),
    srv: (name, signal) => withResolver(signal, (resolver) => noneIfMissing(resolver.resolveSrv(name))),
    naptr: (name, signal) => withResolver(signal, (resolver) => noneIfMissing(resolver.resolveNaptr(name))),
  };
}

async function noneIfMissing<Item>(query: Promise<Item[]>): Promise<Item[]> {
  try {
    return (await query).slice(0, MAX_RECORDS);
  } catch (cause) {
    if (NOT_FOUND_CODES.has((cause as { readonly code?: unknown }).code)) return [];
    throw cause;
  }
}

/** A machine without IPv4 tries IPv6 first, every other machine IPv4. */
function byFamily(addresses: readonly HostAddress[]): readonly HostAddress[] {
  const ownAddresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const externalAddresses = ownAddresses.filter(({ internal }) => !internal);
  const isIpv6Only = externalAddresses.length > 0 && !externalAddresses.some(({ family }) => family === "IPv4");
  return isIpv6Only ? [...addresses].sort((a, b) => b.family - a.family) : addresses;
}
