import { fieldKey, SipHeaders } from "../message/headers.ts";
import { type SipRequest, sipRequest } from "../message/message.ts";
import { withoutPort } from "../message/uri.ts";
import type { Caller, HeaderField, UserAgentOptions } from "./agent.ts";
import { ALLOW } from "./capabilities.ts";
import type { InviteAttempt } from "./invite-attempt.ts";

/** What all INVITEs of one call share. */
export interface InviteIds {
  /** The URI of To: the first Request-URI, before redirections. */
  readonly target: string;
  readonly callId: string;
  readonly fromTag: string;
  readonly caller?: Caller | undefined;
  /** Header fields of this call; they replace those of our identity. */
  readonly headers?: readonly HeaderField[] | undefined;
}

/** The INVITE of an attempt (RFC 3261 section 13.2.1), without Via, Contact and credentials. */
export function inviteMessage(
  { identity, routes = [] }: Pick<UserAgentOptions, "identity" | "routes">,
  { target, callId, fromTag, caller, headers: own = [] }: InviteIds,
  { uri, extensions, sessionExpiresS, minSeS }: InviteAttempt,
  cseq: number,
  offer: string,
): SipRequest {
  const headers = new SipHeaders().add("Max-Forwards", "70");
  for (const route of routes) headers.add("Route", route);
  headers
    .add("From", `${caller?.from ?? identity.from};tag=${fromTag}`)
    .add("To", `<${withoutPort(target)}>`)
    .add("Call-ID", callId)
    .add("CSeq", `${cseq} INVITE`);
  const replaced = new Set(own.map(([name]) => fieldKey(name)));
  const ours = identity.headers.filter(([name]) => !replaced.has(fieldKey(name)));
  for (const [name, value] of [...(caller?.headers ?? []), ...ours, ...own, ALLOW]) headers.add(name, value);
  if (extensions.length > 0) headers.add("Supported", extensions.join(", "));
  if (extensions.includes("timer")) headers.add("Session-Expires", String(sessionExpiresS));
  if (minSeS !== undefined) headers.add("Min-SE", String(minSeS));
  headers.add("User-Agent", identity.product).add("Content-Type", "application/sdp");
  return sipRequest("INVITE", uri, headers, new TextEncoder().encode(offer));
}
