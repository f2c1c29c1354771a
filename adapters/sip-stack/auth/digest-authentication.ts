import { writeQuotedString } from "../message/grammar.ts";
import type { SipRequest, SipResponse } from "../message/sip-message.ts";
import { shown } from "../ports.ts";
import {
  type ChallengeRefusal,
  type ChallengeRefusalCode,
  type DigestChallenge,
  digestChallenge,
  parseChallenges,
  strongerChallenge,
} from "./challenge.ts";
import type { DigestClient } from "./digest.ts";

/**
 * The requests that a challenge applies to: requests to the trunk's server (REGISTER, OPTIONS) or requests in calls.
 * Credentials for the server are not sent in calls: a proxy would forward them to the callee.
 */
export type DigestUse = "server" | "calls";

/** A protection space: a server or a proxy, and its realm (RFC 3261 section 22.1). */
export interface DigestSpace {
  readonly field: "Authorization" | "Proxy-Authorization";
  readonly use: DigestUse;
  /** The latest challenge. */
  readonly challenge: DigestChallenge;
  /** Our cnonce, the same for all requests with this nonce, as a `-sess` algorithm requires. */
  readonly cnonce: string;
  /** Number of requests that have been authorized with this nonce. */
  count: number;
}

/** The key of a protection space; unique within one use. */
export function spaceKey(field: DigestSpace["field"], realm: string): string {
  return `${field} ${realm}`;
}

/** The use that challenges to a request with this method are for. */
function useOf(method: string): DigestUse {
  return method === "REGISTER" || method === "OPTIONS" ? "server" : "calls";
}

/** User, password and nonce count for a digest response. */
interface DigestCredentials {
  readonly user: string;
  readonly password: string;
  readonly cnonce: string;
  /** Nonce count: 1 for the first request with this nonce. */
  readonly count: number;
}

/** The value of Authorization or Proxy-Authorization for a request (RFC 7616 section 3.4). */
export function digestResponse(
  { realm, nonce, opaque, algorithm, algorithmText, hasNonceCount }: DigestChallenge,
  { user, password, cnonce, count }: DigestCredentials,
  { method, uri }: { readonly method: string; readonly uri: string },
): string {
  const { hash } = algorithm;
  const account = hash(`${user}:${realm}:${password}`);
  const secret = algorithm.session ? hash(`${account}:${nonce}:${cnonce}`) : account;
  const nc = count.toString(16).padStart(8, "0");
  const salt = hasNonceCount ? `${nonce}:${nc}:${cnonce}:auth` : nonce;
  const response = hash(`${secret}:${salt}:${hash(`${method}:${uri}`)}`);
  const quotedParams = Object.entries({ username: user, realm, nonce, uri, response });
  const params = quotedParams.map(([name, value]) => `${name}=${writeQuotedString(value)}`);
  if (algorithmText !== undefined) params.push(`algorithm=${algorithmText}`);
  if (hasNonceCount || algorithm.session) params.push(`cnonce=${writeQuotedString(cnonce)}`);
  if (opaque !== undefined) params.push(`opaque=${writeQuotedString(opaque)}`);
  if (hasNonceCount) params.push("qop=auth", `nc=${nc}`);
  return `Digest ${params.join(", ")}`;
}

/** Number of times in a row a server may report its new nonce as stale. */
const MAX_STALE = 2;

const FIELDS = [
  ["Authorization", "WWW-Authenticate"],
  ["Proxy-Authorization", "Proxy-Authenticate"],
] as const;

/** The digest authentication (RFC 3261 section 22.4) of one request and its repetitions after challenges. */
export class DigestAuthentication {
  readonly #client: DigestClient;
  #use: DigestUse = "calls";
  /** The credentials of the latest attempt. */
  readonly #sentSpaces = new Map<string, DigestSpace>();
  /** Answers to this request's challenges, with the number of stale nonces. */
  readonly #answers = new Map<string, { readonly space: DigestSpace; readonly stale: number }>();

  constructor(client: DigestClient) {
    this.#client = client;
  }

  /** Sets Authorization and Proxy-Authorization for the known challenges; the Request-URI must not change afterwards. */
  authorize(request: SipRequest): void {
    const { user, password } = this.#client.account;
    this.#use = useOf(request.method);
    this.#sentSpaces.clear();
    for (const [field] of FIELDS) request.headers.delete(field);
    if (password === undefined) return;
    for (const space of this.#client.spaces(this.#use))
      this.#sentSpaces.set(spaceKey(space.field, space.challenge.realm), space);
    for (const [key, { space }] of this.#answers) this.#sentSpaces.set(key, space);
    for (const space of this.#sentSpaces.values()) {
      const credentials = { user, password, cnonce: space.cnonce, count: ++space.count };
      request.headers.add(space.field, digestResponse(space.challenge, credentials, request));
    }
  }

  /**
   * Handles the challenges in a 401 or 407. Returns the reason why they cannot be answered; undefined if the request is
   * to be authorized and sent again, with a new CSeq.
   * @param trustsNewRealms true if a new realm is trusted. Default: true
   */
  handleChallenge(response: SipResponse, trustsNewRealms = true): ChallengeRefusal | undefined {
    const { user, password } = this.#client.account;
    const strongest = new Map<string, { readonly field: DigestSpace["field"]; readonly challenge: DigestChallenge }>();
    const unsupported = new Set<string>();
    let firstRefusal: ChallengeRefusal | undefined;
    for (const [field, name] of FIELDS)
      for (const challenge of response.headers.fields(name).flatMap(parseChallenges).map(digestChallenge)) {
        if (typeof challenge === "string") {
          unsupported.add(challenge);
          continue;
        }
        const reason =
          password === undefined ? undefined : this.#client.knownRealms.refusal(challenge, trustsNewRealms);
        firstRefusal ??= reason;
        if (reason !== undefined) continue;
        const key = spaceKey(field, challenge.realm);
        strongest.set(key, { field, challenge: strongerChallenge(strongest.get(key)?.challenge, challenge) });
      }
    if (strongest.size === 0 && firstRefusal !== undefined) return firstRefusal;
    if (strongest.size === 0)
      return unsupported.size > 0
        ? refusal("unsupported", `the server requires ${[...unsupported].join(" or ")}, which is not supported`)
        : refusal("unusable_challenge", "the server requires authentication, but sends no challenge");
    for (const [key, { field, challenge }] of strongest) {
      const { realm, nonce, stale } = challenge;
      if (password === undefined)
        return refusal("no_password", `the server requires a password (realm ${shown(realm)}), and none is configured`);
      const previous = this.#answers.get(key);
      const isRepeated = this.#sentSpaces.get(key)?.challenge.nonce === nonce;
      if (!stale && (previous !== undefined || isRepeated))
        return refusal(
          "wrong_password",
          `the server refused the user ${shown(user)} with this password (realm ${shown(realm)})`,
        );
      const staleCount = previous === undefined ? 0 : previous.stale + 1;
      if (staleCount > MAX_STALE)
        return refusal("unusable_challenge", `the server reports every nonce as stale (realm ${shown(realm)})`);
      this.#answers.set(key, { space: this.#client.learn(field, challenge, this.#use), stale: staleCount });
    }
    return undefined;
  }
}

function refusal(code: ChallengeRefusalCode, detail: string): ChallengeRefusal {
  return { code, detail };
}
