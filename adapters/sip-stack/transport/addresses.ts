import type { LookupFunction } from "node:net";
import { type IpRange, inAnyRange, ipBytes, ipRanges, isPublicAddress, PRIVATE_IPV4, parseRange } from "../ports.ts";

/** An IPv4-mapped address, as the URL parser writes it (RFC 4291 section 2.5.5.2). */
const MAPPED_ADDRESS = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/;

/**
 * An address in the form that the runtime's sockets use: IPv6 compressed and in lower case (RFC 5952), IPv4-mapped
 * addresses as IPv4.
 */
export function canonicalAddress(address: string): string {
  if (!address.includes(":")) return address;
  const [ip = address, zone] = address.split("%");
  const url = `http://[${ip}]`;
  if (!URL.canParse(url)) return address.toLowerCase();
  const compressedAddress = new URL(url).hostname.slice(1, -1);
  const [, high, low] = MAPPED_ADDRESS.exec(compressedAddress) ?? [];
  if (high !== undefined && low !== undefined)
    return [high, low]
      .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
      .join(".");
  return compressedAddress + (zone === undefined ? "" : `%${zone}`);
}

/** True for the address of zeros: an unspecified address, and in an SDP a missing one (RFC 3264 section 8.4). */
export function isWildcard(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

/** Networks with only a local meaning (for IPv6: RFC 4193, 4291, 3879). */
const PRIVATE = ipRanges(`${PRIVATE_IPV4} ::/127 fc00::/7 fe80::/10 fec0::/10`);
/** Multicast, broadcast and reserved networks (RFC 1112, 5771, 4291). */
const UNASSIGNABLE_RANGES = ipRanges("224.0.0.0/3 ff00::/8");

/** True if an IP address is valid only within one network or machine; false for a name. */
export function isPrivate(address: string): boolean {
  return isInRanges(PRIVATE, address);
}

/** True if an IP address is multicast, broadcast or reserved, so that no single peer can have it. */
export function isUnassignable(address: string): boolean {
  return isInRanges(UNASSIGNABLE_RANGES, address);
}

function isInRanges(networks: readonly IpRange[], address: string): boolean {
  const bytes = ipBytes(address);
  return bytes !== undefined && inAnyRange(networks, bytes);
}

/** The IP addresses that a trunk's peers may have; plain data, so that it can be passed to a worker. */
export interface AddressRule {
  /** The only networks, in CIDR notation. Default: every unicast address. */
  readonly ranges?: readonly string[] | undefined;
  /** True if the trunk's server is on the internet: without `ranges`, private addresses are refused. */
  readonly isPublic: boolean;
  /** Allows only public Internet addresses, as for an account that a user has entered. Default: false. */
  readonly onlyPublic?: boolean | undefined;
}

/** Returns true if a peer may have this IP address. */
export type AddressCheck = (address: string) => boolean;

/** The check for a rule. It caches the last allowed address, so that packets from one peer cost nothing. */
export function addressCheck({ ranges, isPublic, onlyPublic = false }: AddressRule): AddressCheck {
  const networks = ranges?.map(parseRange).filter((range): range is IpRange => range !== undefined);
  let lastAllowed = "";
  return (address) => {
    if (address === lastAllowed) return true;
    const bytes = ipBytes(address);
    if (bytes === undefined || isUnassignable(address)) return false;
    if (onlyPublic && !isPublicAddress(address)) return false;
    if (networks === undefined ? isPublic && isPrivate(address) : !inAnyRange(networks, bytes)) return false;
    lastAllowed = address;
    return true;
  };
}

/** Reason why the rule refuses an address, and the trunk's option that allows it. */
export function addressRefusal(address: string, rule: AddressRule, option: "mediaFrom" | "signallingFrom"): string {
  if (isUnassignable(address)) return `${address} is a multicast or reserved address`;
  if (rule.onlyPublic) return `${address} is not a public address`;
  if (rule.ranges !== undefined) return `${address} is not in \`${option}\``;
  return `${address} is a private address, and the trunk's server has a public one; add its network to \`${option}\` if that is intended`;
}

/**
 * A `lookup` for sockets that get only addresses. It returns the address synchronously, so that a datagram reaches the
 * network before `send` returns, and its bytes may be used again. A name is not looked up.
 */
export const addressOnly: LookupFunction = (host, options, callback) => {
  const family = host.includes(":") ? 6 : 4;
  if (options?.all) callback(null, [{ address: host, family }]);
  else callback(null, host, family);
};
