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

/** Valid networks, separated by spaces. */
export function ipRanges(texts: string): readonly IpRange[] {
  return texts.split(" ").map((text) => parseRange(text)!);
}

/** The bytes of an IP address; for an IPv4-mapped address, those of the IPv4 address. Undefined for a name. */
export function ipBytes(address: string): Uint8Array | undefined {
  const bytes = rawBytes(address.replace(/%.*$/, ""));
  return bytes !== undefined && inRange(MAPPED_RANGE, bytes) ? bytes.subarray(12) : bytes;
}

/** True if an address from {@link ipBytes} is in the network. */
export function inRange({ bytes, bits }: IpRange, address: Uint8Array): boolean {
  if (bytes.length !== address.length) return false;
  const wholeBytes = bits >> 3;
  for (let i = 0; i < wholeBytes; i++) if (bytes[i] !== address[i]) return false;
  const extraBits = bits & 7;
  return extraBits === 0 || ((bytes[wholeBytes]! ^ address[wholeBytes]!) & (0xff00 >> extraBits) & 0xff) === 0;
}

/** True if an address from {@link ipBytes} is in one of the networks. */
export function inAnyRange(ranges: readonly IpRange[], address: Uint8Array): boolean {
  return ranges.some((range) => inRange(range, address));
}

/** `::ffff:0:0/96` (RFC 4291 section 2.5.5.2). */
const MAPPED_RANGE: IpRange = {
  bytes: Uint8Array.from([...Array<number>(10).fill(0), 255, 255, 0, 0, 0, 0]),
  bits: 96,
};

function rawBytes(address: string): Uint8Array | undefined {
  return address.includes(":") ? ipv6Bytes(address) : ipv4Bytes(address);
}

/** Four decimal numbers. None has a leading zero, which some programs read as octal. */
function ipv4Bytes(text: string): Uint8Array | undefined {
  if (!/^(?:\d{1,3}\.){3}\d{1,3}$/.test(text)) return undefined;
  const numbers = text.split(".").map(Number);
  return numbers.join(".") === text && numbers.every((number) => number < 256) ? Uint8Array.from(numbers) : undefined;
}

/** Eight groups, of which "::" replaces one or more (RFC 4291 section 2.2). */
function ipv6Bytes(text: string): Uint8Array | undefined {
  const [head = "", tail, ...extraParts] = text.split("::");
  const headBytes = groupBytes(head, tail === undefined);
  const tailBytes = groupBytes(tail ?? "", true);
  if (headBytes === undefined || tailBytes === undefined || extraParts.length > 0) return undefined;
  const length = headBytes.length + tailBytes.length;
  if (tail === undefined ? length !== 16 : length > 14) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(headBytes);
  bytes.set(tailBytes, 16 - tailBytes.length);
  return bytes;
}

/**
 * The bytes of groups between colons; undefined if a group is invalid.
 * @param isEnd true if the last group may be an IPv4 address
 */
function groupBytes(text: string, isEnd: boolean): number[] | undefined {
  if (text === "") return [];
  const bytes: number[] = [];
  const parts = text.split(":");
  for (const [at, group] of parts.entries()) {
    if (/^[\da-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
      continue;
    }
    const ipv4 = isEnd && at === parts.length - 1 ? ipv4Bytes(group) : undefined;
    if (ipv4 === undefined) return undefined;
    bytes.push(...ipv4);
  }
  return bytes;
}
