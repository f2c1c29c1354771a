import { inAnyRange, ipBytes, ipRanges } from "../base/ip-range.ts";

/**
 * IPv4 networks with a local meaning only (RFC 1122, 1918, 3927, 6598, 6890), among them the networks that phones
 * behind 464XLAT (RFC 7335) and machines behind a VPN (RFC 2544) use as their own address.
 */
export const PRIVATE_IPV4 =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15";
/** IPv4 networks without public hosts (RFC 6890 and its successors). */
const CLOSED_IPV4 = ipRanges(
  `${PRIVATE_IPV4} 192.0.2.0/24 192.88.99.0/24 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 ` +
    // The metadata service of Azure has an address that looks public.
    "168.63.129.16/32",
);
/** Everything that is assigned to hosts of the Internet. */
const GLOBAL_IPV6 = ipRanges("2000::/3");
/** Parts of {@link GLOBAL_IPV6} with another purpose: IETF protocols and Teredo, documentation, 6to4. */
const CLOSED_IPV6 = ipRanges("2001::/23 2001:db8::/32 2002::/16 3fff::/20");
/** NAT64: the address ends with an IPv4 address (RFC 6052). */
const NAT64 = ipRanges("64:ff9b::/96");

/**
 * True if an IP address belongs to a host of the public Internet. False for private, loopback, link-local, unique
 * local, shared (CGNAT), multicast, reserved and metadata addresses, for IPv6 forms of these, and for anything that is
 * not an address, such as a name or `127.1`.
 */
export function isPublicAddress(address: string): boolean {
  const bytes = bytesOf(address);
  if (bytes === undefined) return false;
  if (bytes.length === 4) return !inAnyRange(CLOSED_IPV4, bytes);
  if (inAnyRange(NAT64, bytes)) return !inAnyRange(CLOSED_IPV4, bytes.subarray(12));
  return inAnyRange(GLOBAL_IPV6, bytes) && !inAnyRange(CLOSED_IPV6, bytes);
}

/** Names that resolve to this machine or its network (RFC 6761, RFC 6762, RFC 8375, ICANN). */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa)\.?$/i;

/**
 * False for a host that is certainly not on the public Internet: a private address, or the name of a local one. The
 * addresses of any other name are known only when it is looked up, and are checked again before each connection.
 */
export function mayBePublic(host: string): boolean {
  return isAddress(host) ? isPublicAddress(host) : !LOCAL_NAME.test(host);
}

/** True if the text is an IP address in its usual form. */
export function isAddress(text: string): boolean {
  return bytesOf(text) !== undefined;
}

/** The bytes of an address; undefined with a zone (`fe80::1%eth0`), which only this machine knows. */
function bytesOf(address: string): Uint8Array | undefined {
  return address.includes("%") ? undefined : ipBytes(address);
}
