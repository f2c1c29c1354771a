import { parseUri, type SipUri } from "../message/uri.ts";
import { isPrivate } from "../transport/private-address.ts";
import type { Flow } from "../transport/transport.ts";
import { defaultPort } from "../transport/transport.ts";

/** Where a request is to be sent, and where else when the flow turns out to be gone. */
export interface NextHop {
  readonly to: string | Flow;
  readonly otherwise: string;
}

/**
 * Where a request within a dialog goes: over the flow that the dialog lives on where the URI leads to its far end, or
 * where it leads to a place behind a NAT that cannot be reached otherwise; else to wherever the URI resolves.
 * @param first what the request that began the dialog was sent to
 */
export function nextHop(uri: string, flow: Flow, first: string): NextHop {
  const parsed = parseUri(uri);
  if (parsed === undefined) return { to: first, otherwise: first };
  const hidden = isHidden(parsed.host, flow.remote.address);
  const otherwise = hidden ? first : uri;
  const keeps = flow.alive && (hidden || leadsTo(parsed, flow, parseUri(first)));
  return { to: keeps ? flow : otherwise, otherwise };
}

/** Names that mean nothing outside of a network (RFC 2606, 6762, 8375), such as a machine's own. */
const PRIVATE_NAME = /^[^.:]+$|\.(?:invalid|local|localdomain|internal|intranet|lan|home\.arpa)$/i;

/** Whether a host is known to its own network alone, though whoever names it was reached at a public address. */
function isHidden(host: string, remote: string): boolean {
  if (host.endsWith(".invalid")) return true;
  return (isPrivate(host) || PRIVATE_NAME.test(host)) && !isPrivate(remote);
}

/** Whether a URI names the far end of this flow: by its address, or by the name that the flow was made for. */
function leadsTo(uri: SipUri, flow: Flow, first: SipUri | undefined): boolean {
  const transport = uri.params.get("transport")?.toLowerCase();
  if (uri.scheme === "sips" && flow.kind !== "tls") return false;
  if (transport !== undefined && transport !== flow.kind && !(transport === "tcp" && flow.kind === "tls")) return false;
  if (uri.host === flow.remote.address) return (uri.port ?? defaultPort(flow.kind)) === flow.remote.port;
  return flow.reliable && first !== undefined && uri.host === first.host && uri.port === first.port;
}
