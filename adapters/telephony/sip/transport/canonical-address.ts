/** An address in the form of the runtime's sockets: IPv6 compressed and in lower case (RFC 5952). */
export function canonicalAddress(address: string): string {
  if (!address.includes(":")) return address;
  const [bare = address, zone] = address.split("%");
  const url = `http://[${bare}]`;
  if (!URL.canParse(url)) return address.toLowerCase();
  return new URL(url).hostname.slice(1, -1) + (zone === undefined ? "" : `%${zone}`);
}
