import { parseHostPort, parseUri, type SipUri, sipUri, writeUri } from "../../../sip-stack/message/uri.ts";

const TRANSPORTS: readonly string[] = ["udp", "tcp", "tls"];

/** True if requests can be sent to it: a SIP URI with a supported transport. */
export function isNextHop(text: string): boolean {
  const uri = parseUri(text);
  if (uri === undefined) return false;
  const transport = uri.params.get("transport")?.toLowerCase();
  if (transport === undefined) return true;
  return TRANSPORTS.includes(transport) && (uri.scheme === "sip" || transport !== "udp");
}

/** True if it is valid as a Contact. */
export function isContactHost(text: string): boolean {
  return parseUri(text) !== undefined;
}

/** True for a host name or an IP address without a port; IPv6 with or without brackets. */
export function isHost(text: string): boolean {
  return hostOf(text) !== undefined;
}

/** True for a host with or without a port. */
export function isPublicHost(text: string): boolean {
  return isHost(text) || parseHostPort(text) !== undefined;
}

/** True for a SIP URI with a user, or the user alone. */
export function isUriOrUser(text: string): boolean {
  if (/^sips?:/i.test(text)) return parseUri(text)?.user !== undefined;
  return text !== "" && text.length <= 200 && !/[\s<>"@]/.test(text);
}

/** The URI of a user at a domain; a URI is returned unchanged. */
export function uriAt(uriOrUser: string, domain: string): SipUri {
  const uri = /^sips?:/i.test(uriOrUser) ? parseUri(uriOrUser) : undefined;
  return uri ?? sipUri({ user: uriOrUser, host: domain });
}

/** The URI from {@link uriAt} as text. */
export function uriTextAt(uriOrUser: string, domain: string): string {
  return writeUri(uriAt(uriOrUser, domain));
}

/** The host in lower case and without brackets. */
export function hostOf(text: string): string | undefined {
  const hostText = text.includes(":") && !text.startsWith("[") ? `[${text}]` : text;
  const parsed = parseHostPort(hostText);
  return parsed?.port === undefined ? parsed?.host : undefined;
}

/** True if requests to this URI use TLS. */
export function isTls(uri: SipUri): boolean {
  return uri.scheme === "sips" || uri.params.get("transport")?.toLowerCase() === "tls";
}
