/** An IPv4-mapped address, as the URL parser writes it (RFC 4291 section 2.5.5.2). */
const MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/;

/** An address in the form of the runtime's sockets: IPv6 compressed and in lower case (RFC 5952); IPv4-mapped is IPv4. */
export function canonicalAddress(address: string): string {
  if (!address.includes(":")) return address;
  const [bare = address, zone] = address.split("%");
  const url = `http://[${bare}]`;
  if (!URL.canParse(url)) return address.toLowerCase();
  const compressed = new URL(url).hostname.slice(1, -1);
  const [, high, low] = MAPPED.exec(compressed) ?? [];
  if (high !== undefined && low !== undefined)
    return [high, low]
      .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
      .join(".");
  return compressed + (zone === undefined ? "" : `%${zone}`);
}
