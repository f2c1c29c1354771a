import { type IpRange, inRange, ipBytes, parseRange } from "./ip-range.ts";
import { isNobodys, isPrivate } from "./private-address.ts";

/** Which addresses a trunk's peers may have; plain data, so that a worker can be given it. */
export interface AddressRule {
  /** The only networks, in CIDR notation. Default: every address that makes sense. */
  readonly ranges?: readonly string[] | undefined;
  /** The trunk's server is on the internet: without `ranges` private addresses are refused. */
  readonly isPublic: boolean;
}

/** Answers whether a peer may have this IP address. */
export type AddressCheck = (address: string) => boolean;

/** The check of a rule. It keeps the last address that passed, so that it costs nothing for one peer's packets. */
export function addressCheck({ ranges, isPublic }: AddressRule): AddressCheck {
  const networks = ranges?.map(parseRange).filter((range): range is IpRange => range !== undefined);
  let passed = "";
  return (address) => {
    if (address === passed) return true;
    const bytes = ipBytes(address);
    if (bytes === undefined || isNobodys(address)) return false;
    if (networks === undefined ? isPublic && isPrivate(address) : !networks.some((range) => inRange(range, bytes)))
      return false;
    passed = address;
    return true;
  };
}

/** Why the rule refuses an address, with the trunk's option that allows it. */
export function refusalOf(address: string, rule: AddressRule, option: "mediaFrom" | "signallingFrom"): string {
  if (isNobodys(address)) return `${address} is a multicast or reserved address`;
  if (rule.ranges !== undefined) return `${address} is not in \`${option}\``;
  return `${address} is a private address, and the trunk's server has a public one; add its network to \`${option}\` if that is meant`;
}
