import type { Hop } from "./transport.ts";

/** The questions that a SIP client asks the DNS; by default the runtime's own resolver answers. */
export interface Dns {
  /** NAPTR records of a domain; empty where there are none. */
  naptr(
    domain: string,
  ): Promise<readonly { order: number; preference: number; service: string; replacement: string }[]>;
  /** SRV records; empty where there are none. */
  srv(name: string): Promise<readonly { priority: number; weight: number; name: string; port: number }[]>;
  /** IPv4 and IPv6 addresses of a host, in the order to be tried; empty where there are none. */
  addresses(host: string): Promise<readonly string[]>;
}

/** Finds the places to send a request to, best first (RFC 3263 section 4, RFC 2782 for the weights). */
export type Resolve = (uri: string, signal: AbortSignal) => Promise<readonly Hop[]>;
