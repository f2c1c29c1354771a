import type { SipRequest, SipResponse } from "../message/message.ts";
import { parseChallenges } from "./challenge.ts";
import type { DigestClient } from "./digest.ts";
import { type DigestChallenge, digestChallenge, shown, strongerChallenge } from "./digest-challenge.ts";
import { digestResponse } from "./digest-response.ts";
import { type DigestSpace, type DigestUse, spaceKey, useOf } from "./digest-space.ts";

/** So often may a server call the nonce stale that it has just given. */
const MAX_STALE = 2;

const FIELDS = [
  ["Authorization", "WWW-Authenticate"],
  ["Proxy-Authorization", "Proxy-Authenticate"],
] as const;

/** The authentication of one request: its first sending, and those after challenges. */
export class DigestAuthentication {
  readonly #client: DigestClient;
  #use: DigestUse = "calls";
  /** What the latest sending carried. */
  readonly #sent = new Map<string, DigestSpace>();
  /** What was answered after a challenge to this very request, with the number of stale nonces. */
  readonly #answered = new Map<string, { readonly space: DigestSpace; readonly stale: number }>();

  constructor(client: DigestClient) {
    this.#client = client;
  }

  /** Sets Authorization and Proxy-Authorization as far as a challenge is known; the Request-URI is not to change afterwards. */
  authorize(request: SipRequest): void {
    const { user, password } = this.#client.account;
    this.#use = useOf(request.method);
    this.#sent.clear();
    for (const [field] of FIELDS) request.headers.delete(field);
    if (password === undefined) return;
    for (const space of this.#client.spaces(this.#use))
      this.#sent.set(spaceKey(space.field, space.challenge.realm), space);
    for (const [key, { space }] of this.#answered) this.#sent.set(key, space);
    for (const space of this.#sent.values()) {
      const use = { user, password, cnonce: space.cnonce, count: ++space.count };
      request.headers.add(space.field, digestResponse(space.challenge, use, request));
    }
  }

  /**
   * Takes in the challenges of a 401 or 407. Undefined: the request is to be authorized and sent again, with a new CSeq;
   * otherwise why there is no sense in that, as a sentence for a person.
   * @param learns whether a realm that is not known yet is believed; default: true
   */
  challenged(response: SipResponse, learns = true): string | undefined {
    const { user, password } = this.#client.account;
    const chosen = new Map<string, { readonly field: DigestSpace["field"]; readonly challenge: DigestChallenge }>();
    const unknown = new Set<string>();
    let refusal: string | undefined;
    for (const [field, name] of FIELDS)
      for (const challenge of response.headers.fields(name).flatMap(parseChallenges).map(digestChallenge)) {
        if (typeof challenge === "string") {
          unknown.add(challenge);
          continue;
        }
        const why = password === undefined ? undefined : this.#client.known.refusal(challenge, learns);
        refusal ??= why;
        if (why !== undefined) continue;
        const key = spaceKey(field, challenge.realm);
        chosen.set(key, { field, challenge: strongerChallenge(chosen.get(key)?.challenge, challenge) });
      }
    if (chosen.size === 0 && refusal !== undefined) return refusal;
    if (chosen.size === 0)
      return unknown.size > 0
        ? `The server asks for ${[...unknown].join(" or ")}, which is not supported`
        : "The server wants authentication, but does not say how";
    for (const [key, { field, challenge }] of chosen) {
      const { realm, nonce, stale } = challenge;
      if (password === undefined)
        return `The server asks for a password (realm ${shown(realm)}), and none is configured`;
      const answered = this.#answered.get(key);
      const repeated = this.#sent.get(key)?.challenge.nonce === nonce;
      if (!stale && (answered !== undefined || repeated))
        return `The server refused the user ${shown(user)} with this password (realm ${shown(realm)})`;
      const staleCount = answered === undefined ? 0 : answered.stale + 1;
      if (staleCount > MAX_STALE) return `The server calls each of its nonces stale (realm ${shown(realm)})`;
      this.#answered.set(key, { space: this.#client.learn(field, challenge, this.#use), stale: staleCount });
    }
    return undefined;
  }
}
