import { parseUri } from "../message/uri.ts";
import { BoundedMap } from "../ports.ts";
import { canonicalAddress } from "../transport/addresses.ts";
import type { Resolve } from "../transport/dns.ts";
import { addressAndPort, defaultPort, type Flow, type SocketAddress } from "../transport/transport.ts";

const MAX_ADDRESSES = 256;

/** The servers that our credentials are for: the addresses of the trunk's next hop. */
export class CredentialServers {
  readonly #nextHop: string;
  readonly #addresses = new BoundedMap<string, true>(MAX_ADDRESSES);

  constructor(nextHop: string) {
    this.#nextHop = nextHop;
  }

  /** Wraps a resolver so that it remembers the addresses of the trunk's next hop. */
  remembering(resolve: Resolve): Resolve {
    return async (uri, signal) => {
      const hops = await resolve(uri, signal);
      if (uri === this.#nextHop) for (const hop of hops) this.#addresses.set(placeOf(hop), true);
      return hops;
    };
  }

  /** True if a flow's peer is one of these servers, or a URI is the next hop or one of its addresses. */
  includes(place: string | Flow): boolean {
    if (typeof place !== "string") return this.#addresses.has(placeOf(place.remote));
    const [uri, nextHopUri] = [parseUri(place), parseUri(this.#nextHop)];
    if (uri === undefined) return false;
    if (uri.host === nextHopUri?.host && uri.port === nextHopUri.port) return true;
    const isTls = uri.scheme === "sips" || uri.params.get("transport")?.toLowerCase() === "tls";
    return this.#addresses.has(placeOf({ address: uri.host, port: uri.port ?? defaultPort(isTls ? "tls" : "udp") }));
  }
}

function placeOf({ address, port }: SocketAddress): string {
  return addressAndPort({ address: canonicalAddress(address), port });
}
