import { parseUint32 } from "../../../sip-stack/message/grammar.ts";
import { parseNameAddr } from "../../../sip-stack/message/name-addr.ts";
import type { SipRequest, SipResponse } from "../../../sip-stack/message/sip-message.ts";
import { parseUri, type SipUri, sameUri } from "../../../sip-stack/message/uri.ts";

/** Maximum time until the next refresh, even if the registrar grants more, s. */
const MAX_S = 3_600;

/**
 * Validity of our registration, s (RFC 3261 section 10.2.4): the `expires` parameter of our own Contact in the
 * response, otherwise Expires, otherwise the requested time.
 */
export function grantedExpiry(request: SipRequest, response: SipResponse, requestedS: number): number {
  const requestedUri = uriOf(request.headers.get("Contact"));
  const contacts = response.headers.list("Contact").map((value) => ({ uri: uriOf(value), seconds: expiryOf(value) }));
  const ownContact = contacts.find(
    ({ uri }) => requestedUri !== undefined && uri !== undefined && sameUri(uri, requestedUri),
  );
  // A registrar may have rewritten our address for a NAT; then ours is the Contact with our user, if there is only one.
  const sameUser = contacts.filter(({ uri }) => uri !== undefined && uri.user === requestedUri?.user);
  const match = ownContact ?? (sameUser.length === 1 ? sameUser[0] : undefined);
  const expiresS = match?.seconds ?? parseUint32(response.headers.get("Expires")) ?? requestedS;
  return Math.min(MAX_S, Math.max(1, expiresS));
}

function uriOf(contact: string | undefined): SipUri | undefined {
  const uri = contact === undefined ? undefined : parseNameAddr(contact)?.uri;
  return uri === undefined ? undefined : parseUri(uri);
}

function expiryOf(contact: string): number | undefined {
  return parseUint32(parseNameAddr(contact)?.params.get("expires"));
}
