import type { HostLookup } from "../../../user-hosts/host-lookup.ts";
import type { Dns } from "./resolve.ts";

/**
 * The DNS for names that a user has entered, or that a peer sends. Addresses come from the hosts file and the DNS.
 * @param user a key of the user whose lookups these are
 */
export function userDns(hosts: HostLookup, user: string): Dns {
  return {
    naptr: (domain) => hosts.naptr(domain, user),
    srv: (name) => hosts.srv(name, user),
    async addresses(host) {
      const found = await hosts.addresses(host, user);
      return found.map(({ address }) => address);
    },
  };
}
