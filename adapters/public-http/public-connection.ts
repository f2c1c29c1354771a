import type { RequestOptions } from "node:https";
import { isAddress, isPublicAddress } from "../../src/domain/public-address.ts";
import type { HostLookup } from "../user-hosts/host-lookup.ts";
import { notPublic } from "./not-public.ts";
import { publicLookup } from "./public-lookup.ts";

/** Where requests may go. */
export interface PublicConnectionOptions {
  /** Connects to private addresses too, also without TLS. Default: false. */
  readonly allowPrivate?: boolean | undefined;
  /** Looks up host names. */
  readonly hosts: Pick<HostLookup, "addresses">;
  /** The authorities that sign certificates, PEM. Default: those of the runtime. */
  readonly ca?: string | undefined;
}

/** The user of the operator's own servers, such as those of tools: all their lookups count together. */
export const OPERATOR = "operator";

/** The user in whose name a connection is opened, and its end. */
export interface ConnectionOwner {
  /** A key of the user whose lookups it counts among. */
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
    // An address is not looked up.
    if (isAddress(host) && !isPublicAddress(host)) throw notPublic(host);
  }
  const isAllowed = allowPrivate ? () => true : isPublicAddress;
  const lookup = publicLookup((name) => hosts.addresses(name, user, signal), isAllowed);
  return { host, port: url.port, lookup, agent: false, ...(ca !== undefined && { ca }) };
}
