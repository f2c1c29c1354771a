import { isIP } from "node:net";

/** An IP address of a host. */
export interface HostAddress {
  readonly address: string;
  /** IP version, 4 or 6. */
  readonly family: number;
}

/** @param address an IP address */
export function hostAddress(address: string): HostAddress {
  return { address, family: isIP(address) };
}
