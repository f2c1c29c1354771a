import { parseUri, type SipUri } from "../message/uri.ts";
import { isPrivate } from "../transport/private-address.ts";
import type { Flow } from "../transport/transport.ts";
import { defaultPort } from "../transport/transport.ts";

/** The next hop of a request. */
export interface NextHop {
  readonly to: string | Flow;
  /** The URI to use if the flow is closed. */
  readonly otherwise: string;
}

/**
 * The next hop of a request within a dialog: the dialog's flow, if the URI names its peer, or a host behind a NAT that
 * only the flow reaches; else what the URI resolves to.
 * @param first the next hop of the INVITE
 */
export function nextHop(uri: string, flow: Flow, first: string): NextHop {
  const parsed = parseUri(uri);
  if (parsed === undefined) return { to: first, otherwise: first };
  const hidden = isHidden(parsed.host, flow.remote.address);
  const otherwise = hidden ? first : uri;
  const keeps = flow.alive && (hidden || leadsTo(parsed, flow, parseUri(first)));
  return { to: keeps ? flow : otherwise, otherwise };
}

/** Names that are valid within one network only (RFC 2606, 6762, 8375), such as a machine's own. */
const PRIVATE_NAME = /^[^.:]+$|\.(?:invalid|local|localdomain|internal|intranet|lan|home\.arpa)$/i;

/** Whether a host is reachable in its own network only, while the peer has a public address. */
function isHidden(host: string, remote: string): boolean {
  if (host.endsWith(".invalid")) return true;
  return (isPrivate(host) || PRIVATE_NAME.test(host)) && !isPrivate(remote);
}

/** Whether a URI names the peer of this flow: by its address, or by the name that the flow was opened for. */
function leadsTo(uri: SipUri, flow: Flow, first: SipUri | undefined): boolean {
  const transport = uri.params.get("transport")?.toLowerCase();
  if (uri.scheme === "sips" && flow.kind !== "tls") return false;
  if (transport !== undefined && transport !== flow.kind && !(transport === "tcp" && flow.kind === "tls")) return false;
  if (uri.host === flow.remote.address) return (uri.port ?? defaultPort(flow.kind)) === flow.remote.port;
  return flow.reliable && first !== undefined && uri.host === first.host && uri.port === first.port;
}
