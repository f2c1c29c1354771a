import { parseSessionExpires } from "../message/header-values.ts";
import { fieldKey, optionTags, SipHeaders } from "../message/headers.ts";
import { parseNameAddr } from "../message/name-addr.ts";
import { type SipRequest, type SipResponse, sipRequest } from "../message/sip-message.ts";
import { parseUri, type SipUri, withoutPort, writeUri } from "../message/uri.ts";
import { SESSION_EXPIRES_S } from "./session-timer.ts";
import {
  ALLOW,
  type Caller,
  EXTENSIONS,
  type Extension,
  type HeaderField,
  type UserAgentOptions,
} from "./user-agent-options.ts";

/** Maximum number of redirections per call; RFC 3261 sets no limit, so loops are possible. */
const MAX_REDIRECTS = 5;

/** Maximum number of contacts considered per redirection. */
const MAX_CONTACTS = 20;

/** Maximum number of times an INVITE is sent again for reasons other than authentication and redirection. */
const MAX_REPAIRS = 6;

/** The variable parts of an INVITE; an error response that can be fixed causes another attempt. */
export interface InviteAttempt {
  /** Request-URI. */
  readonly uri: string;
  /** Option tags of its Supported field. */
  readonly extensions: readonly Extension[];
  readonly sessionExpiresS: number;
  readonly minSeS: number | undefined;
  /** Remaining URIs of redirections, best first. */
  readonly alternatives: readonly string[];
  /** Every URI that was tried, or is among the alternatives. */
  readonly visitedUris: readonly string[];
  readonly redirects: number;
  readonly repairs: number;
}

export function firstAttempt(uri: string, extensions: readonly Extension[]): InviteAttempt {
  return {
    uri,
    extensions,
    sessionExpiresS: SESSION_EXPIRES_S,
    minSeS: undefined,
    alternatives: [],
    visitedUris: [placeOf(uri)],
    redirects: 0,
    repairs: 0,
  };
}

/** The attempt after a refused INVITE, immediate or after a random wait. */
export interface NextAttempt {
  readonly attempt: InviteAttempt;
  /** True if the attempt waits for the random time of RFC 3261 section 14.1, after a 491. */
  readonly shouldWait: boolean;
}

/** The next attempt after this response of 300 to 699; undefined if there is none. */
export function nextAttempt(
  attempt: InviteAttempt,
  response: SipResponse,
  followRedirects: boolean | ((place: SipUri) => boolean),
): NextAttempt | undefined {
  const repair = REPAIRS[response.status];
  if (repair !== undefined) {
    const repairedAttempt = attempt.repairs < MAX_REPAIRS ? repair(attempt, response) : undefined;
    if (repairedAttempt !== undefined)
      return { attempt: { ...repairedAttempt, repairs: attempt.repairs + 1 }, shouldWait: response.status === 491 };
  }
  if (!followRedirects || response.status >= 600) return undefined;
  return nextAlternative(isRedirection(response) ? withContacts(attempt, response, followRedirects) : attempt);
}

/** True if the response names other contacts to call. */
export function isRedirection({ status }: SipResponse): boolean {
  return status === 301 || status === 302;
}

/** The contacts of a redirection, with their parameters. */
export function contactsOf({ headers }: SipResponse): SipUri[] {
  const uris = headers
    .list("Contact")
    .slice(0, MAX_CONTACTS)
    .map((value) => parseUri(parseNameAddr(value)?.uri ?? ""));
  return uris.filter((uri) => uri !== undefined);
}

/** The next URI of a redirection, if one is left. */
export function nextAlternative(attempt: InviteAttempt): NextAttempt | undefined {
  const [uri, ...alternatives] = attempt.alternatives;
  if (uri === undefined || attempt.redirects >= MAX_REDIRECTS) return undefined;
  return { attempt: { ...attempt, uri, alternatives, redirects: attempt.redirects + 1 }, shouldWait: false };
}

/** The attempts that avoid a refusal, by its status; undefined if there is none. */
const REPAIRS: Readonly<Record<number, (attempt: InviteAttempt, response: SipResponse) => InviteAttempt | undefined>> =
  {
    420: withoutExtensions,
    421: withRequired,
    422: withLongerSession,
    491: (attempt) => attempt,
  };

/** 420 Bad Extension: without the listed extensions, or without any (RFC 3261 section 8.1.3.5). */
function withoutExtensions(attempt: InviteAttempt, { headers }: SipResponse): InviteAttempt | undefined {
  const unsupported = optionTags(headers, "Unsupported");
  const extensions = unsupported.length === 0 ? [] : attempt.extensions.filter((tag) => !unsupported.includes(tag));
  return extensions.length === attempt.extensions.length ? undefined : { ...attempt, extensions };
}

/** 421 Extension Required: with the listed extensions, if we support all of them (RFC 3261 section 21.4.16). */
function withRequired(attempt: InviteAttempt, { headers }: SipResponse): InviteAttempt | undefined {
  const requiredTags = optionTags(headers, "Require");
  const supportedTags = EXTENSIONS.filter((tag) => requiredTags.includes(tag));
  const missingTags = supportedTags.filter((tag) => !attempt.extensions.includes(tag));
  if (missingTags.length === 0 || supportedTags.length < requiredTags.length) return undefined;
  return { ...attempt, extensions: [...attempt.extensions, ...missingTags] };
}

/** 422 Session Interval Too Small: with the interval of its Min-SE (RFC 4028 section 7.3). */
function withLongerSession(attempt: InviteAttempt, { headers }: SipResponse): InviteAttempt | undefined {
  const minSeS = parseSessionExpires(headers.get("Min-SE"))?.seconds;
  if (minSeS === undefined || minSeS <= (attempt.minSeS ?? 0)) return undefined;
  return { ...attempt, minSeS, sessionExpiresS: Math.max(attempt.sessionExpiresS, minSeS) };
}

/**
 * The attempt with the contacts of a redirection, sorted by q (RFC 3261 section 8.1.3.4), ahead of earlier
 * alternatives.
 */
function withContacts(
  attempt: InviteAttempt,
  { headers }: SipResponse,
  followRedirects: true | ((place: SipUri) => boolean),
): InviteAttempt {
  const ranked: { uri: string; q: number }[] = [];
  const visitedUris = [...attempt.visitedUris];
  for (const value of headers.list("Contact").slice(0, MAX_CONTACTS)) {
    const contact = parseNameAddr(value);
    const uri = contact === undefined ? undefined : parseUri(contact.uri);
    if (contact === undefined || uri === undefined) continue;
    if (followRedirects !== true && !followRedirects(uri)) continue;
    // A peer must not choose our header fields, and `method` has no place in a Request-URI.
    const params = new Map([...uri.params].filter(([name]) => name !== "method"));
    const cleanUri =
      uri.headers.length > 0 || params.size < uri.params.size ? writeUri({ ...uri, params, headers: [] }) : contact.uri;
    if (visitedUris.includes(placeOf(cleanUri))) continue;
    visitedUris.push(placeOf(cleanUri));
    ranked.push({ uri: cleanUri, q: Number(contact.params.get("q") ?? 1) || 0 });
  }
  ranked.sort((a, b) => b.q - a.q);
  return {
    ...attempt,
    visitedUris,
    alternatives: [...ranked.map(({ uri }) => uri), ...attempt.alternatives],
  };
}

/** A key for comparing URIs: the same for two spellings of one URI. */
function placeOf(uri: string): string {
  const parsedUri = parseUri(uri);
  return parsedUri === undefined
    ? uri
    : `${parsedUri.scheme} ${parsedUri.user ?? ""} ${parsedUri.host} ${parsedUri.port ?? ""}`;
}

/** Identifiers that all INVITEs of one call share. */
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
  { target, callId, fromTag, caller, headers: ownHeaders = [] }: InviteIds,
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
  const replacedNames = new Set(ownHeaders.map(([name]) => fieldKey(name)));
  const identityHeaders = identity.headers.filter(([name]) => !replacedNames.has(fieldKey(name)));
  for (const [name, value] of [...(caller?.headers ?? []), ...identityHeaders, ...ownHeaders, ALLOW])
    headers.add(name, value);
  if (extensions.length > 0) headers.add("Supported", extensions.join(", "));
  if (extensions.includes("timer")) headers.add("Session-Expires", String(sessionExpiresS));
  if (minSeS !== undefined) headers.add("Min-SE", String(minSeS));
  headers.add("User-Agent", identity.product).add("Content-Type", "application/sdp");
  return sipRequest("INVITE", uri, headers, new TextEncoder().encode(offer));
}
