import type { SipRequest, SipResponse } from "../message/message.ts";
import { shown } from "../ports.ts";
import { parseChallenges } from "./challenge.ts";
import type { ChallengeRefusal, ChallengeRefusalCode } from "./challenge-refusal.ts";
import type { DigestClient } from "./digest.ts";
import { type DigestChallenge, digestChallenge, strongerChallenge } from "./digest-challenge.ts";
import { digestResponse } from "./digest-response.ts";
import { type DigestSpace, type DigestUse, spaceKey, useOf } from "./digest-space.ts";

/** How many times in a row a server may call its own new nonce stale. */
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
  readonly #sent = new Map<string, DigestSpace>();
  /** Answers to challenges of this request, with the number of stale nonces. */
  readonly #answered = new Map<string, { readonly space: DigestSpace; readonly stale: number }>();

  constructor(client: DigestClient) {
    this.#client = client;
  }

  /** Sets Authorization and Proxy-Authorization for the known challenges; the Request-URI must not change afterwards. */
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
   * Takes the challenges of a 401 or 407. Undefined: authorize the request and send it again, with a new CSeq; else why
   * the challenges cannot be answered.
   * @param learns whether a new realm is trusted; default: true
   */
  challenged(response: SipResponse, learns = true): ChallengeRefusal | undefined {
    const { user, password } = this.#client.account;
    const chosen = new Map<string, { readonly field: DigestSpace["field"]; readonly challenge: DigestChallenge }>();
    const unknown = new Set<string>();
    let refused: ChallengeRefusal | undefined;
    for (const [field, name] of FIELDS)
      for (const challenge of response.headers.fields(name).flatMap(parseChallenges).map(digestChallenge)) {
        if (typeof challenge === "string") {
          unknown.add(challenge);
          continue;
        }
        const why = password === undefined ? undefined : this.#client.known.refusal(challenge, learns);
        refused ??= why;
        if (why !== undefined) continue;
        const key = spaceKey(field, challenge.realm);
        chosen.set(key, { field, challenge: strongerChallenge(chosen.get(key)?.challenge, challenge) });
      }
    if (chosen.size === 0 && refused !== undefined) return refused;
    if (chosen.size === 0)
      return unknown.size > 0
        ? refusal("unsupported", `the server requires ${[...unknown].join(" or ")}, which is not supported`)
        : refusal("unusable_challenge", "the server requires authentication, but sends no challenge");
    for (const [key, { field, challenge }] of chosen) {
      const { realm, nonce, stale } = challenge;
      if (password === undefined)
        return refusal("no_password", `the server requires a password (realm ${shown(realm)}), and none is configured`);
      const answered = this.#answered.get(key);
      const repeated = this.#sent.get(key)?.challenge.nonce === nonce;
      if (!stale && (answered !== undefined || repeated))
        return refusal(
          "wrong_password",
          `the server refused the user ${shown(user)} with this password (realm ${shown(realm)})`,
        );
      const staleCount = answered === undefined ? 0 : answered.stale + 1;
      if (staleCount > MAX_STALE)
        return refusal("unusable_challenge", `the server calls each of its nonces stale (realm ${shown(realm)})`);
      this.#answered.set(key, { space: this.#client.learn(field, challenge, this.#use), stale: staleCount });
    }
    return undefined;
  }
}

function refusal(code: ChallengeRefusalCode, detail: string): ChallengeRefusal {
  return { code, detail };
}
