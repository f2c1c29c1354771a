import type { RequestOptions } from "node:https";
import { isAddress, isPublicAddress } from "../../src/domain/public-address.ts";
import { notPublic } from "./not-public.ts";
import { publicLookup, type Resolve, systemResolve } from "./public-lookup.ts";

/** Where requests may go. */
export interface PublicConnectionOptions {
  /** Connects to private addresses too, also without TLS. Default: false. */
  readonly allowPrivate?: boolean | undefined;
  /** Resolves host names. Default: as the system does. */
  readonly resolve?: Resolve | undefined;
  /** The authorities that sign certificates, PEM. Default: those of the runtime. */
  readonly ca?: string | undefined;
}

/**
 * The options of a request that connects to a public host over TLS, with a new connection. A name is checked when the
 * socket looks it up.
 * @throws {Error} the URL is not https, or its host is a private address
 */
export function publicConnection(
  url: URL,
  { allowPrivate = false, resolve = systemResolve, ca }: PublicConnectionOptions,
): RequestOptions {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (!allowPrivate) {
    if (url.protocol !== "https:") throw new Error("the URL is not https");
    // An address is not looked up.
    if (isAddress(host) && !isPublicAddress(host)) throw notPublic(host);
  }
  const lookup = publicLookup(resolve, allowPrivate ? () => true : isPublicAddress);
  return { host, port: url.port, lookup, agent: false, ...(ca !== undefined && { ca }) };
}
