import type { RequestOptions } from "node:https";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { isAddress, isPublicAddress } from "../../src/domain/public-address.ts";
import type { HostAddress } from "./host-address.ts";
import type { HostLookup } from "./host-lookup.ts";

/** Limits on the destinations of requests. */
export interface PublicConnectionOptions {
  /** Allows private addresses, and connections without TLS. Default: false. */
  readonly allowPrivate?: boolean | undefined;
  /** Looks up host names. */
  readonly hosts: Pick<HostLookup, "addresses">;
  /** The CA certificates that servers' certificates are verified against, PEM. Default: the runtime's. */
  readonly ca?: string | undefined;
}

/** The user for the operator's own servers, such as tool servers; their lookups share one limit. */
export const OPERATOR = "operator";

/** The user for whom a connection is opened, and the signal that ends its lookup. */
export interface ConnectionOwner {
  /** Key of the user whose limit its lookup counts against. */
  readonly user: string;
  /** Ends the lookup. */
  readonly signal: AbortSignal;
}

/**
 * The options of a request that connects to a public host over TLS, with a new connection. A name is checked when the
 * socket looks it up.
 * @throws {Error} the URL is not https, or its host is a private address
 */
export function publicConnection(
  url: URL,
  { allowPrivate = false, hosts, ca }: PublicConnectionOptions,
  { user, signal }: ConnectionOwner,
): RequestOptions {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (!allowPrivate) {
    if (url.protocol !== "https:") throw new Error("the URL is not https");
    // Literal addresses are never looked up.
    if (isAddress(host) && !isPublicAddress(host)) throw notPublicError(host);
  }
  const isAllowed = allowPrivate ? () => true : isPublicAddress;
  const lookup = publicLookup((name) => hosts.addresses(name, user, signal), isAllowed);
  return { host, port: url.port, lookup, agent: false, ...(ca !== undefined && { ca }) };
}

/** Error for a host with only private addresses. The message does not name them, since users read it. */
function notPublicError(host: string): Error {
  return new Error(`the host "${host}" has no public address`);
}

/** Returns the addresses of a host; none if it does not exist. */
type Resolve = (host: string) => Promise<readonly HostAddress[]>;

/**
 * A `lookup` for sockets that returns only allowed addresses. The socket connects to what it returns, so nothing can
 * change between the check and the connection.
 */
function publicLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (host, { all }, callback) => {
    resolve(host).then(
      (addresses) => {
        const allowedAddresses = addresses.filter(({ address }) => isAllowed(address));
        const [first] = allowedAddresses;
        if (addresses.length === 0) callback(new Error(`the host "${host}" has no address; check its spelling`), "", 0);
        else if (!first) callback(notPublicError(host), "", 0);
        else if (all) callback(null, [...allowedAddresses]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, "", 0),
    );
  };
}

/**
 * Connects to the host of a URL as a request would, with TLS for https, and closes the connection without sending a
 * request.
 * @throws {Error} the host is not public, it cannot be reached, its certificate is wrong, or the signal was aborted
 */
export async function connectOnce(
  url: URL,
  options: PublicConnectionOptions,
  { user, signal }: ConnectionOwner,
): Promise<void> {
  signal.throwIfAborted();
  const { host, port, lookup, ca } = publicConnection(url, options, { user, signal });
  const isSecure = url.protocol === "https:";
  const target = { host: String(host), port: Number(port || (isSecure ? 443 : 80)), lookup };
  const servername = isIP(target.host) === 0 ? { servername: target.host } : {};
  let socket: Socket | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      socket = isSecure ? connectTls({ ...target, ...servername, ca }, resolve) : connect(target, resolve);
      socket.on("error", reject);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    // This way, the server sees an end instead of a reset within the handshake.
    await new Promise<void>((resolve) => socket?.end(resolve));
  } finally {
    socket?.destroy();
  }
}
