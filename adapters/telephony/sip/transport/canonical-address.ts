/** An address as the runtime's sockets write it: IPv6 in lower case with its zeros left out. */
export function canonicalAddress(address: string): string {
  if (!address.includes(":")) return address;
  const [bare = address, zone] = address.split("%");
  const url = `http://[${bare}]`;
  if (!URL.canParse(url)) return address.toLowerCase();
  return new URL(url).hostname.slice(1, -1) + (zone === undefined ? "" : `%${zone}`);
}
