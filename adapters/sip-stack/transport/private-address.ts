import { type IpRange, inAnyRange, ipBytes, ipRanges, PRIVATE_IPV4 } from "../ports.ts";

/** Networks with a local meaning only (for IPv6: RFC 4193, 4291, 3879). */
const PRIVATE = ipRanges(`${PRIVATE_IPV4} ::/127 fc00::/7 fe80::/10 fec0::/10`);
/** Multicast, broadcast and reserved networks (RFC 1112, 5771, 4291). */
const UNASSIGNABLE = ipRanges("224.0.0.0/3 ff00::/8");

/** Whether an IP address is valid only within one network or machine; false for a name. */
export function isPrivate(address: string): boolean {
  return among(PRIVATE, address);
}

/** Whether an IP address is multicast, broadcast or reserved, so that no single peer can have it. */
export function isUnassignable(address: string): boolean {
  return among(UNASSIGNABLE, address);
}

function among(networks: readonly IpRange[], address: string): boolean {
  const bytes = ipBytes(address);
  return bytes !== undefined && inAnyRange(networks, bytes);
}
