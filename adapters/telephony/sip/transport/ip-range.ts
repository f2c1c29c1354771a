import { isIP } from "node:net";

/** A network in CIDR notation (RFC 4632, RFC 4291 section 2.3). */
export interface IpRange {
  /** 4 bytes or 16. */
  readonly bytes: Uint8Array;
  /** The length of the prefix. */
  readonly bits: number;
}

/** A network, `203.0.113.0/24` or `2001:db8::/32`, or a single address; undefined for anything else. */
export function parseRange(text: string): IpRange | undefined {
  const [, address = "", suffix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bytes = rawBytes(address);
  if (bytes === undefined) return undefined;
  const bits = suffix === undefined ? 8 * bytes.length : Number(suffix);
  return bits <= 8 * bytes.length ? { bytes, bits } : undefined;
}

/** The bytes of an IP address; those of the IPv4 address if it is IPv4-mapped. Undefined for a name. */
export function ipBytes(address: string): Uint8Array | undefined {
  const bytes = rawBytes(address.replace(/%.*$/, ""));
  return bytes !== undefined && inRange(MAPPED, bytes) ? bytes.subarray(12) : bytes;
}

/** Whether an address from {@link ipBytes} is in the network. */
export function inRange({ bytes, bits }: IpRange, address: Uint8Array): boolean {
  if (bytes.length !== address.length) return false;
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== address[i]) return false;
  const rest = bits & 7;
  return rest === 0 || ((bytes[whole]! ^ address[whole]!) & (0xff00 >> rest) & 0xff) === 0;
}

/** `::ffff:0:0/96` (RFC 4291 section 2.5.5.2). */
const MAPPED: IpRange = { bytes: Uint8Array.from([...Array<number>(10).fill(0), 255, 255, 0, 0, 0, 0]), bits: 96 };

function rawBytes(address: string): Uint8Array | undefined {
  switch (isIP(address)) {
    case 4:
      return Uint8Array.from(address.split("."), Number);
    case 6:
      return ipv6Bytes(address);
    default:
      return undefined;
  }
}

/** @param address a valid IPv6 address */
function ipv6Bytes(address: string): Uint8Array {
  const [head = "", tail] = address.split("::");
  const [first, last] = [groups(head), groups(tail ?? "")];
  const bytes = new Uint8Array(16);
  bytes.set(first);
  bytes.set(last, 16 - last.length);
  return bytes;
}

/** The bytes of groups between colons; the last group may be an IPv4 address. */
function groups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
