import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

interface Interface {
  readonly address: string;
  readonly internal: boolean;
  readonly cidr: string | null;
}

function interfacesOf(family: 4 | 6): Interface[] {
  try {
    const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    return all.filter(({ address }) => isIP(address) === family);
  } catch {
    return []; // no permission
  }
}

/**
 * Our address towards a peer, for runtimes that do not report the address of a connected socket (Deno): the one in the
 * peer's own network, else the first that is reachable from outside.
 */
export function interfaceAddress(towards: string): string | undefined {
  const family = towards.includes(":") ? 6 : 4;
  const interfaces = interfacesOf(family);
  const near = interfaces.find(({ cidr }) => cidr !== null && contains(cidr, towards, family));
  const far = interfaces.find(({ address, internal }) => !internal && !isLinkLocal(address));
  return (near ?? far)?.address;
}

/** Whether this machine can reach the internet over IPv6: it has an address other than loopback and link-local. */
export function hasIpv6(): boolean {
  return interfacesOf(6).some(({ address, internal }) => !internal && !isLinkLocal(address));
}

function contains(cidr: string, address: string, family: 4 | 6): boolean {
  const [network = "", bits = ""] = cidr.split("/");
  const type = family === 4 ? "ipv4" : "ipv6";
  try {
    const list = new BlockList();
    list.addSubnet(network, Number(bits), type);
    return list.check(address, type);
  } catch {
    return false;
  }
}

function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address);
}
