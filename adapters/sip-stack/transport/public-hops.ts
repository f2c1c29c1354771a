import { isPublicAddress } from "../ports.ts";
import type { AddressCheck } from "./address-rule.ts";
import type { Resolve } from "./resolve.ts";
import { TransportError } from "./transport.ts";

/** Every address, or those on the public Internet only. */
export function reachable(onlyPublic: boolean): AddressCheck {
  return onlyPublic ? isPublicAddress : () => true;
}

/** A host has no address that the account may use. */
export function notReachable(host: string): TransportError {
  const fix = "only the operator of this server can allow others";
  return new TransportError("unreachable", `${host} has no public address; ${fix}`, { lasting: true });
}

/** Resolves to hops with an address that `allows` returns true for. @throws {TransportError} there is none */
export function allowedHops(resolve: Resolve, allows: AddressCheck): Resolve {
  return async (uri, signal) => {
    const hops = await resolve(uri, signal);
    const left = hops.filter(({ address }) => allows(address));
    if (left.length === 0 && hops[0] !== undefined) throw notReachable(hops[0].host);
    return left;
  };
}
