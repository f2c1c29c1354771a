import { parseUri } from "../message/uri.ts";
import { isPublicAddress } from "../ports.ts";
import { type AddressCheck, addressCheck, isPrivate } from "./addresses.ts";
import type { Resolve } from "./dns.ts";
import { TransportError } from "./transport.ts";

/** Options of {@link trustedResolve}. */
interface TrustedResolveOptions {
  /** Resolves the trunk's own URI. */
  readonly resolveOwn: Resolve;
  /** Resolves the URIs of peers. */
  readonly resolve: Resolve;
  /** All addresses that the trunk may reach, including those of its own server. */
  readonly allows: AddressCheck;
  /** The URI that the trunk itself is configured with. */
  readonly ownUri: string;
  /**
   * The only networks that a peer may name, in CIDR notation. Default: private networks are allowed only if the trunk's
   * own addresses are private.
   */
  readonly ranges: readonly string[] | undefined;
  /** Called when a peer's URI has been refused because it resolves to this forbidden address. */
  readonly onRefused: (uri: string, address: string) => void;
}

/**
 * Resolves the URIs of peers (Contact, Record-Route, redirection) only to allowed addresses; if there are none, to the
 * trunk's own server, which can forward the request. The trunk's own URI is restricted only by `allows`.
 */
export function trustedResolve({
  resolve,
  allows,
  ownUri,
  ranges,
  onRefused,
  ...options
}: TrustedResolveOptions): Resolve {
  const resolveOwn = allowedHops(options.resolveOwn, allows);
  const ownHost = hostOf(ownUri);
  let ownAddresses: readonly string[] = [];
  return async (uri, signal) => {
    if (hostOf(uri) === ownHost) {
      const hops = await resolveOwn(uri, signal);
      ownAddresses = hops.map(({ address }) => address);
      return hops;
    }
    const hops = await resolve(uri, signal);
    const isPublic = ownAddresses.length > 0 && !ownAddresses.some(isPrivate);
    const isAllowed = addressCheck({ ranges, isPublic });
    const permittedHops = hops.filter(
      ({ address }) => allows(address) && (ownAddresses.includes(address) || isAllowed(address)),
    );
    if (permittedHops.length > 0 || hops.length === 0) return permittedHops;
    onRefused(uri, hops[0]!.address);
    return resolveOwn(ownUri, signal);
  };
}

/** The host that a URI resolves to: `maddr` overrides the URI's host (RFC 3261 section 19.1.1). */
function hostOf(text: string): string | undefined {
  const uri = parseUri(text);
  return uri?.params.get("maddr") || uri?.host;
}

/** Every address, or those on the public Internet only. */
export function peerAddressCheck(onlyPublic: boolean): AddressCheck {
  return onlyPublic ? isPublicAddress : () => true;
}

/** Error for a host without an address that the account may use. */
export function notReachable(host: string): TransportError {
  const fix = "only the operator of this server can allow others";
  return new TransportError("unreachable", `${host} has no public address; ${fix}`, { isPermanent: true });
}

/** Resolves to hops whose address `allows` accepts. @throws {TransportError} there is none */
function allowedHops(resolve: Resolve, allows: AddressCheck): Resolve {
  return async (uri, signal) => {
    const hops = await resolve(uri, signal);
    const permittedHops = hops.filter(({ address }) => allows(address));
    if (permittedHops.length === 0 && hops[0] !== undefined) throw notReachable(hops[0].host);
    return permittedHops;
  };
}
