import { type IpRange, inAnyRange, ipBytes, isPublicAddress, parseRange } from "../ports.ts";
import { isPrivate, isUnassignable } from "./private-address.ts";

/** The IP addresses that a trunk's peers may have; plain data, so that it can be passed to a worker. */
export interface AddressRule {
  /** The only networks, in CIDR notation. Default: every unicast address. */
  readonly ranges?: readonly string[] | undefined;
  /** The trunk's server is on the internet: without `ranges` private addresses are refused. */
  readonly isPublic: boolean;
  /** Only addresses on the public Internet: those of an account that a user has entered. Default: false. */
  readonly onlyPublic?: boolean | undefined;
}

/** Returns whether a peer may have this IP address. */
export type AddressCheck = (address: string) => boolean;

/** The check of a rule. It caches the last address that passed, so that it costs nothing for the packets of one peer. */
export function addressCheck({ ranges, isPublic, onlyPublic = false }: AddressRule): AddressCheck {
  const networks = ranges?.map(parseRange).filter((range): range is IpRange => range !== undefined);
  let passed = "";
  return (address) => {
    if (address === passed) return true;
    const bytes = ipBytes(address);
    if (bytes === undefined || isUnassignable(address)) return false;
    if (onlyPublic && !isPublicAddress(address)) return false;
    if (networks === undefined ? isPublic && isPrivate(address) : !inAnyRange(networks, bytes)) return false;
    passed = address;
    return true;
  };
}

/** Why the rule refuses an address, and the trunk's option that allows it. */
export function refusalOf(address: string, rule: AddressRule, option: "mediaFrom" | "signallingFrom"): string {
  if (isUnassignable(address)) return `${address} is a multicast or reserved address`;
  if (rule.onlyPublic) return `${address} is not a public address`;
  if (rule.ranges !== undefined) return `${address} is not in \`${option}\``;
  return `${address} is a private address, and the trunk's server has a public one; add its network to \`${option}\` if that is meant`;
}
