import dns from "node:dns/promises";
import { isIP } from "node:net";
import type { Dns } from "./resolve.ts";

/** Error codes of a resolver for a name or record that does not exist. */
const NOTHING = new Set(["ENOTFOUND", "ENODATA", "NOTFOUND", "NODATA", "NXDOMAIN", "EAI_NODATA", "EAI_NONAME"]);

/** The runtime's resolver. Addresses come from the system's resolver and its hosts file; other records from the DNS. */
export const nodeDns: Dns = {
  async naptr(domain) {
    // Not every runtime supports NAPTR; SRV records work without it (RFC 3263 section 4.1).
    if (typeof dns.resolveNaptr !== "function") return [];
    return noneIfMissing(dns.resolveNaptr(domain));
  },
  srv(name) {
    return noneIfMissing(dns.resolveSrv(name));
  },
  async addresses(host) {
    if (isIP(host) !== 0) return [host];
    const found = await noneIfMissing(dns.lookup(host, { all: true }));
    return found.map(({ address }) => address);
  },
};

async function noneIfMissing<Item>(answer: Promise<Item[]>): Promise<Item[]> {
  try {
    return await answer;
  } catch (cause) {
    if (NOTHING.has((cause as { code?: string }).code ?? "")) return [];
    throw cause;
  }
}
