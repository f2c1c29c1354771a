import { parseCSeq } from "../message/header-values.ts";
import { SipHeaders } from "../message/headers.ts";
import { parseNameAddr, tagOf } from "../message/name-addr.ts";
import { EMPTY_BODY, type SipMessage, type SipRequest, type SipResponse, sipRequest } from "../message/sip-message.ts";
import { parseUri, type SipUri, writeUri } from "../message/uri.ts";
import { isPrivate } from "../transport/addresses.ts";
import { defaultPort, type Flow } from "../transport/transport.ts";
import type { HeaderField } from "./user-agent-options.ts";

/** Parts of a request that do not come from the dialog. */
export interface RequestParts {
  readonly headers?: readonly HeaderField[];
  readonly body?: Uint8Array;
  readonly contentType?: string;
}

/** A request within a dialog, and the URI of its next hop. */
interface RoutedRequest {
  readonly request: SipRequest;
  readonly next: string;
}

/** A dialog from the perspective of its INVITE's UAC (RFC 3261 section 12). */
export class SipDialog {
  readonly callId: string;
  readonly localTag: string;
  /** Empty if the peer sent none, as RFC 2543 allowed. */
  readonly remoteTag: string;
  readonly #local: string;
  readonly #remote: string;
  #target: string;
  #routes: readonly string[];
  #localCSeq: number;
  #remoteCSeq: number | undefined;

  /**
   * The dialog created by a 101–299 response to an INVITE.
   * @param uri the Request-URI of that INVITE: the remote target until the peer names one
   */
  constructor(uri: string, response: SipResponse) {
    this.callId = response.headers.get("Call-ID") ?? "";
    this.#local = response.headers.get("From") ?? "";
    this.#remote = response.headers.get("To") ?? "";
    this.localTag = tagOf(this.#local) ?? "";
    this.remoteTag = tagOf(this.#remote) ?? "";
    this.#localCSeq = parseCSeq(response.headers.get("CSeq"))?.number ?? 0;
    this.#target = uri;
    this.#routes = [];
    this.establish(response);
  }

  /** The remote target: the URI of the peer's Contact. */
  get target(): string {
    return this.#target;
  }

  /** Our URI, as the peer saw it in From. */
  get localUri(): string | undefined {
    return parseNameAddr(this.#local)?.uri;
  }

  /** Recomputes the route set (section 13.2.2.4) and the remote target from a 2xx. */
  establish(response: SipResponse): void {
    this.#routes = response.headers.list("Record-Route").reverse();
    this.refreshTarget(response);
  }

  /** Sets the remote target from the Contact in a re-INVITE, an UPDATE or their 2xx (section 12.2). */
  refreshTarget({ headers }: SipMessage): void {
    const contact = parseNameAddr(headers.list("Contact")[0] ?? "");
    if (contact !== undefined && parseUri(contact.uri) !== undefined) this.#target = contact.uri;
  }

  /**
   * True if a request from the peer is in order: its CSeq is not lower than the previous one (section 12.2.2).
   */
  isInOrder(request: SipRequest): boolean {
    const number = parseCSeq(request.headers.get("CSeq"))?.number;
    if (number === undefined || (this.#remoteCSeq !== undefined && number < this.#remoteCSeq)) return false;
    this.#remoteCSeq = number;
    return true;
  }

  /** A new request within the dialog. */
  request(method: string, parts: RequestParts = {}): RoutedRequest {
    this.#localCSeq++;
    return this.#route(method, this.#localCSeq, parts);
  }

  /** The ACK for the 2xx with this CSeq. */
  ack(cseq: number, headers: readonly HeaderField[] = []): RoutedRequest {
    return this.#route("ACK", cseq, { headers });
  }

  /** Loose and strict routing (sections 12.2.1.1 and 16.12.1.1). */
  #route(method: string, cseq: number, { headers = [], body = EMPTY_BODY, contentType }: RequestParts): RoutedRequest {
    const [first, ...otherRoutes] = this.#routes;
    const firstUri = first === undefined ? undefined : parseNameAddr(first)?.uri;
    const parsedUri = firstUri === undefined ? undefined : parseUri(firstUri);
    const isStrict = parsedUri !== undefined && !parsedUri.params.has("lr");
    const uri = isStrict ? writeUri({ ...parsedUri, headers: [] }) : this.#target;
    const fields = new SipHeaders().add("Max-Forwards", "70");
    for (const route of isStrict ? [...otherRoutes, `<${this.#target}>`] : this.#routes) fields.add("Route", route);
    fields
      .add("From", this.#local)
      .add("To", this.#remote)
      .add("Call-ID", this.callId)
      .add("CSeq", `${cseq} ${method}`);
    for (const [name, value] of headers) fields.add(name, value);
    if (contentType !== undefined) fields.add("Content-Type", contentType);
    return { request: sipRequest(method, uri, fields, body), next: firstUri ?? this.#target };
  }
}

/** The next hop of a request. */
interface NextHop {
  readonly to: string | Flow;
  /** The URI to use if the flow is closed. */
  readonly fallback: string;
}

/**
 * The next hop of a request within a dialog: the dialog's flow if the URI names its peer, or a host behind a NAT that
 * only the flow reaches; otherwise what the URI resolves to.
 * @param inviteHop the next hop of the INVITE
 */
export function nextHop(uri: string, flow: Flow, inviteHop: string): NextHop {
  const parsedUri = parseUri(uri);
  if (parsedUri === undefined) return { to: inviteHop, fallback: inviteHop };
  const isHostHidden = isHidden(parsedUri.host, flow.remote.address);
  const fallback = isHostHidden ? inviteHop : uri;
  const usesFlow = flow.isAlive && (isHostHidden || leadsTo(parsedUri, flow, parseUri(inviteHop)));
  return { to: usesFlow ? flow : fallback, fallback };
}

/** Names that are valid only within one network (RFC 2606, 6762, 8375), such as a machine name. */
const PRIVATE_NAME = /^[^.:]+$|\.(?:invalid|local|localdomain|internal|intranet|lan|home\.arpa)$/i;

/** True if a host is reachable only within its network, while the peer has a public address. */
function isHidden(host: string, remote: string): boolean {
  if (host.endsWith(".invalid")) return true;
  return (isPrivate(host) || PRIVATE_NAME.test(host)) && !isPrivate(remote);
}

/** True if a URI names the peer of this flow: by its address, or by the name that the flow was opened for. */
function leadsTo(uri: SipUri, flow: Flow, inviteUri: SipUri | undefined): boolean {
  const transport = uri.params.get("transport")?.toLowerCase();
  if (uri.scheme === "sips" && flow.kind !== "tls") return false;
  if (transport !== undefined && transport !== flow.kind && !(transport === "tcp" && flow.kind === "tls")) return false;
  if (uri.host === flow.remote.address) return (uri.port ?? defaultPort(flow.kind)) === flow.remote.port;
  return flow.reliable && inviteUri !== undefined && uri.host === inviteUri.host && uri.port === inviteUri.port;
}
