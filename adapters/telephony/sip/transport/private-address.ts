import { BlockList, isIP } from "node:net";

const PRIVATE = new BlockList();
for (const [network, bits] of [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const)
  PRIVATE.addSubnet(network, bits, "ipv4");
PRIVATE.addAddress("::1", "ipv6");
PRIVATE.addSubnet("fc00::", 7, "ipv6");
PRIVATE.addSubnet("fe80::", 10, "ipv6");

/** Whether an IP address means something only within one network (RFC 1918, 6598, 4193), or one machine. */
export function isPrivate(address: string): boolean {
  const plain = address.replace(/%.*$/, "");
  return PRIVATE.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
}
