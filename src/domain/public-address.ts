/** A network: the bytes of its address, and the length of its prefix in bits. */
type Network = readonly [bytes: readonly number[], bits: number];

/** IPv4 networks that no public host has (RFC 6890 and its successors). */
const CLOSED_IPV4 = [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24",
  "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3",
  // The metadata service of Azure has an address that looks public.
  "168.63.129.16/32",
].flatMap(networks);
/** Everything that is assigned to hosts of the Internet. */
const GLOBAL_IPV6: Network = [[0x20], 3];
/** Parts of it with another purpose: IETF protocols and Teredo, documentation, 6to4. */
const CLOSED_IPV6: readonly Network[] = [
  [[0x20, 0x01, 0x00], 23],
  [[0x20, 0x01, 0x0d, 0xb8], 32],
  [[0x20, 0x02], 16],
  [[0x3f, 0xff, 0x00], 20],
];
/** Networks whose addresses contain an IPv4 address at the end: mapped (RFC 4291) and NAT64 (RFC 6052). */
const IPV4_INSIDE: readonly Network[] = [
  [[...Array<number>(10).fill(0), 0xff, 0xff], 96],
  [[0x00, 0x64, 0xff, 0x9b, ...Array<number>(8).fill(0)], 96],
];

/**
 * Whether an IP address belongs to a host of the public Internet. False for private, loopback, link-local, unique local,
 * shared (CGNAT), multicast, reserved and metadata addresses, for IPv6 forms of these, and for anything that is not an
 * address, such as a name or `127.1`.
 */
export function isPublicAddress(address: string): boolean {
  const ipv4 = ipv4Bytes(address);
  if (ipv4) return isPublicIpv4(ipv4);
  const ipv6 = ipv6Bytes(address);
  if (!ipv6) return false;
  if (IPV4_INSIDE.some((network) => isInside(network, ipv6))) return isPublicIpv4(ipv6.slice(12));
  return isInside(GLOBAL_IPV6, ipv6) && !CLOSED_IPV6.some((network) => isInside(network, ipv6));
}

/** Whether a text is an IP address in its usual form. */
export function isAddress(text: string): boolean {
  return (ipv4Bytes(text) ?? ipv6Bytes(text)) !== undefined;
}

function isPublicIpv4(bytes: readonly number[]): boolean {
  return !CLOSED_IPV4.some((network) => isInside(network, bytes));
}

function isInside([network, bits]: Network, address: readonly number[]): boolean {
  for (let bit = 0; bit < bits; bit += 8) {
    const mask = (0xff00 >> Math.min(8, bits - bit)) & 0xff;
    if ((((network[bit >> 3] ?? 0) ^ (address[bit >> 3] ?? 0)) & mask) !== 0) return false;
  }
  return true;
}

function ipv4Bytes(text: string): number[] | undefined {
  if (!/^(?:\d{1,3}\.){3}\d{1,3}$/.test(text)) return undefined;
  const bytes = text.split(".").map(Number);
  // "010" is eight for some programs and ten for others.
  return bytes.join(".") === text && bytes.every((byte) => byte < 256) ? bytes : undefined;
}

function ipv6Bytes(text: string): number[] | undefined {
  if (!/^[\da-f:.]+$/i.test(text) || !text.includes(":")) return undefined;
  const url = `http://[${text}]`;
  if (!URL.canParse(url)) return undefined;
  // The parser writes every form in one way (RFC 5952), with an IPv4 address at the end as two groups.
  const [head = "", tail] = new URL(url).hostname.slice(1, -1).split("::");
  const [first, last] = [groups(head), groups(tail ?? "")];
  return [...first, ...Array<number>(16 - first.length - last.length).fill(0), ...last];
}

function groups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

function networks(texts: string): Network[] {
  return texts.split(" ").map((text) => {
    const [address = "", bits] = text.split("/");
    return [address.split(".").map(Number), Number(bits)];
  });
}
