import { type IpRange, inAnyRange, ipBytes, ipRanges } from "../../../../src/base/ip-range.ts";

/** Networks with a local meaning only (RFC 1122, 1918, 3927, 6598, 4193, 4291, 3879). */
const PRIVATE = ipRanges(
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 ::/127 fc00::/7 fe80::/10 fec0::/10",
);
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
