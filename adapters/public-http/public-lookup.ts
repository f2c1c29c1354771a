import { lookup as dnsLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { notPublic } from "./not-public.ts";

/** An IP address of a host. */
export interface HostAddress {
  readonly address: string;
  /** 4 or 6. */
  readonly family: number;
}

/** Resolves a host name. */
export type Resolve = (host: string) => Promise<readonly HostAddress[]>;

/** Resolves as the system does, hosts file included. */
export const systemResolve: Resolve = (host) =>
  new Promise((resolve, reject) => {
    dnsLookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

/**
 * A `lookup` for sockets that returns only allowed addresses. The socket connects to what it returns, so nothing can
 * change between the check and the connection.
 */
export function publicLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (host, { all }, callback) => {
    resolve(host).then(
      (addresses) => {
        const allowed = addresses.filter(({ address }) => isAllowed(address));
        const [first] = allowed;
        if (!first) callback(notPublic(host), "", 0);
        else if (all) callback(null, [...allowed]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, "", 0),
    );
  };
}
