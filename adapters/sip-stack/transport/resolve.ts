import type { Hop } from "./transport.ts";

/** The DNS queries of a SIP client (RFC 3263). Default: the runtime's resolver. */
export interface Dns {
  /** NAPTR records of a domain; empty if there are none. */
  naptr(
    domain: string,
  ): Promise<readonly { order: number; preference: number; service: string; replacement: string }[]>;
  /** SRV records; empty if there are none. */
  srv(name: string): Promise<readonly { priority: number; weight: number; name: string; port: number }[]>;
  /** IPv4 and IPv6 addresses of a host, in the order to try; empty if there are none. */
  addresses(host: string): Promise<readonly string[]>;
}

/** Resolves a URI to the hops of a request, best first (RFC 3263 section 4, RFC 2782 for the weights). */
export type Resolve = (uri: string, signal: AbortSignal) => Promise<readonly Hop[]>;
