import { optionTags } from "../message/headers.ts";
import type { SipResponse } from "../message/message.ts";
import { parseNameAddr } from "../message/name-addr.ts";
import { parseSessionExpires } from "../message/session-expires.ts";
import { parseUri, writeUri } from "../message/uri.ts";
import type { MayFollow } from "./agent.ts";
import type { Extension } from "./capabilities.ts";
import { EXTENSIONS } from "./capabilities.ts";
import { SESSION_EXPIRES_S } from "./session-terms.ts";

/** Most redirections of one call (RFC 3261 has no limit, loops do). */
const MOST_REDIRECTS = 5;

/** Most times that an INVITE is sent again for other reasons than authentication and redirection. */
const MOST_REPAIRS = 6;

/** How one call is asked for at the moment; every refusal that can be mended makes another one of it. */
export interface InviteAttempt {
  /** Request-URI. */
  readonly uri: string;
  /** What we say we support. */
  readonly extensions: readonly Extension[];
  readonly sessionExpiresS: number;
  readonly minSeS: number | undefined;
  /** Other places that a redirection has named, best first. */
  readonly alternatives: readonly string[];
  /** Every place that was asked, or is about to be. */
  readonly visited: readonly string[];
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
    visited: [placeOf(uri)],
    redirects: 0,
    repairs: 0,
  };
}

/** What a refused INVITE leads to: nothing more, or another attempt, at once or after a while that is drawn by lot. */
export interface NextAttempt {
  readonly attempt: InviteAttempt;
  /** 491: after the random wait of RFC 3261 section 14.1. */
  readonly wait: boolean;
}

/** How to ask once more after this final response of 300 to 699; undefined: it is final indeed. */
export function nextAttempt(
  attempt: InviteAttempt,
  response: SipResponse,
  followRedirects: boolean | MayFollow,
): NextAttempt | undefined {
  const repair = MENDS[response.status];
  if (repair !== undefined) {
    const mended = attempt.repairs < MOST_REPAIRS ? repair(attempt, response) : undefined;
    if (mended !== undefined)
      return { attempt: { ...mended, repairs: attempt.repairs + 1 }, wait: response.status === 491 };
  }
  if (!followRedirects || response.status >= 600) return undefined;
  const redirected = response.status === 301 || response.status === 302;
  return alternative(redirected ? withContacts(attempt, response, followRedirects) : attempt);
}

/** The next place that a redirection has named, where there is one left. */
export function alternative(attempt: InviteAttempt): NextAttempt | undefined {
  const [uri, ...alternatives] = attempt.alternatives;
  if (uri === undefined || attempt.redirects >= MOST_REDIRECTS) return undefined;
  return { attempt: { ...attempt, uri, alternatives, redirects: attempt.redirects + 1 }, wait: false };
}

/** What can be mended, by status: the attempt that avoids the refusal; undefined: it cannot. */
const MENDS: Readonly<Record<number, (attempt: InviteAttempt, response: SipResponse) => InviteAttempt | undefined>> = {
  420: withoutExtensions,
  421: withRequired,
  422: withLongerSession,
  491: (attempt) => attempt,
};

/** 420 Bad Extension: without those that it names, or without any (RFC 3261 section 8.1.3.5). */
function withoutExtensions(attempt: InviteAttempt, { headers }: SipResponse): InviteAttempt | undefined {
  const unsupported = optionTags(headers, "Unsupported");
  const extensions = unsupported.length === 0 ? [] : attempt.extensions.filter((tag) => !unsupported.includes(tag));
  return extensions.length === attempt.extensions.length ? undefined : { ...attempt, extensions };
}

/** 421 Extension Required: with those that it names, where we know them all (RFC 3261 section 21.4.16). */
function withRequired(attempt: InviteAttempt, { headers }: SipResponse): InviteAttempt | undefined {
  const required = optionTags(headers, "Require");
  const known = EXTENSIONS.filter((tag) => required.includes(tag));
  const missing = known.filter((tag) => !attempt.extensions.includes(tag));
  if (missing.length === 0 || known.length < required.length) return undefined;
  return { ...attempt, extensions: [...attempt.extensions, ...missing] };
}

/** 422 Session Interval Too Small: with the interval that it names (RFC 4028 section 7.3). */
function withLongerSession(attempt: InviteAttempt, { headers }: SipResponse): InviteAttempt | undefined {
  const minSeS = parseSessionExpires(headers.get("Min-SE"))?.seconds;
  if (minSeS === undefined || minSeS <= (attempt.minSeS ?? 0)) return undefined;
  return { ...attempt, minSeS, sessionExpiresS: Math.max(attempt.sessionExpiresS, minSeS) };
}

/**
 * The places that a redirection names, best first by their q (RFC 3261 section 8.1.3.4), before those of an earlier
 * one.
 */
function withContacts(
  attempt: InviteAttempt,
  { headers }: SipResponse,
  followRedirects: true | MayFollow,
): InviteAttempt {
  const ranked: { uri: string; q: number }[] = [];
  const visited = [...attempt.visited];
  for (const value of headers.list("Contact").slice(0, 20)) {
    const contact = parseNameAddr(value);
    const uri = contact === undefined ? undefined : parseUri(contact.uri);
    if (contact === undefined || uri === undefined) continue;
    if (followRedirects !== true && !followRedirects(uri)) continue;
    // Header fields that a URI asks for are none of the far side's business; `method` has no place in a Request-URI.
    const params = new Map([...uri.params].filter(([name]) => name !== "method"));
    const plain =
      uri.headers.length > 0 || params.size < uri.params.size ? writeUri({ ...uri, params, headers: [] }) : contact.uri;
    if (visited.includes(placeOf(plain))) continue;
    visited.push(placeOf(plain));
    ranked.push({ uri: plain, q: Number(contact.params.get("q") ?? 1) || 0 });
  }
  ranked.sort((one, other) => other.q - one.q);
  return { ...attempt, visited, alternatives: [...ranked.map(({ uri }) => uri), ...attempt.alternatives] };
}

/** A URI for comparison: two spellings of one place are the same. */
function placeOf(uri: string): string {
  const parsed = parseUri(uri);
  return parsed === undefined ? uri : `${parsed.scheme} ${parsed.user ?? ""} ${parsed.host} ${parsed.port ?? ""}`;
}
