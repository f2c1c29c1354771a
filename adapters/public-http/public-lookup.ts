import type { LookupFunction } from "node:net";
import type { HostAddress } from "../user-hosts/host-address.ts";
import { notPublic } from "./not-public.ts";

/** Returns the addresses of a host; none if it does not exist. */
export type Resolve = (host: string) => Promise<readonly HostAddress[]>;

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
        if (addresses.length === 0) callback(new Error(`the host "${host}" has no address; check its spelling`), "", 0);
        else if (!first) callback(notPublic(host), "", 0);
        else if (all) callback(null, [...allowed]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, "", 0),
    );
  };
}
