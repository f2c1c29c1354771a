import { parseUint32 } from "../message/grammar.ts";
import type { SipRequest, SipResponse } from "../message/message.ts";
import { parseNameAddr } from "../message/name-addr.ts";
import { parseUri, type SipUri, sameUri } from "../message/uri.ts";

/** A registrar that grants more is refreshed after this all the same, s. */
const LONGEST_S = 3_600;

/**
 * For how long the registrar has granted our registration, s (RFC 3261 section 10.2.4): what stands with our own Contact
 * among those that it lists, else in Expires, else what we asked for.
 */
export function grantedExpiry(request: SipRequest, response: SipResponse, askedS: number): number {
  const ours = uriOf(request.headers.get("Contact"));
  const contacts = response.headers.list("Contact").map((value) => ({ uri: uriOf(value), seconds: expiryOf(value) }));
  const own = contacts.find(({ uri }) => ours !== undefined && uri !== undefined && sameUri(uri, ours));
  // A registrar behind a NAT may have rewritten where we are; then it is the one with our user, if that is unique.
  const alike = contacts.filter(({ uri }) => uri !== undefined && uri.user === ours?.user);
  const found = own ?? (alike.length === 1 ? alike[0] : undefined);
  const granted = found?.seconds ?? parseUint32(response.headers.get("Expires")) ?? askedS;
  return Math.min(LONGEST_S, Math.max(1, granted));
}

function uriOf(contact: string | undefined): SipUri | undefined {
  const uri = contact === undefined ? undefined : parseNameAddr(contact)?.uri;
  return uri === undefined ? undefined : parseUri(uri);
}

function expiryOf(contact: string): number | undefined {
  return parseUint32(parseNameAddr(contact)?.params.get("expires"));
}
