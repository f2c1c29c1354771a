import { parseUri } from "../message/uri.ts";
import { addressCheck } from "./address-rule.ts";
import { isPrivate } from "./private-address.ts";
import type { Resolve } from "./resolve.ts";

/** Options of {@link trustedResolve}. */
export interface TrustedResolveOptions {
  /** The URI that the trunk itself is configured with. */
  readonly own: string;
  /** The only networks that a peer may lead to, in CIDR notation. Default: private ones only if the trunk's own are private. */
  readonly ranges: readonly string[] | undefined;
  /** A URI of a peer leads to this address only, and nothing is sent there. */
  readonly refused: (uri: string, address: string) => void;
}

/**
 * Resolves what peers name, in a Contact, a Record-Route or a redirection, to allowed addresses only; if there are none, to
 * the trunk's own server, which knows the way. The trunk's own URI leads to wherever it leads.
 */
export function trustedResolve(resolve: Resolve, { own, ranges, refused }: TrustedResolveOptions): Resolve {
  const ownHost = parseUri(own)?.host;
  let ownAddresses: readonly string[] = [];
  return async (uri, signal) => {
    const hops = await resolve(uri, signal);
    const addresses = hops.map(({ address }) => address);
    if (parseUri(uri)?.host === ownHost) {
      ownAddresses = addresses;
      return hops;
    }
    const isPublic = ownAddresses.length > 0 && !ownAddresses.some(isPrivate);
    const allowed = addressCheck({ ranges, isPublic });
    const left = hops.filter(({ address }) => ownAddresses.includes(address) || allowed(address));
    if (left.length > 0 || hops.length === 0) return left;
    refused(uri, addresses[0]!);
    return resolve(own, signal);
  };
}
