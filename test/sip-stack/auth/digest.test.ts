import { describe, expect, test } from "vitest";
import { DigestClient } from "../../../adapters/sip-stack/auth/digest.ts";
import type { DigestAuthentication } from "../../../adapters/sip-stack/auth/digest-authentication.ts";
import { SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import {
  EMPTY_BODY,
  type SipRequest,
  type SipResponse,
  sipRequest,
} from "../../../adapters/sip-stack/message/sip-message.ts";

const system = { random: (bytes: Uint8Array): void => void bytes.fill(0xab) };
const client = (password: string | undefined = "s3cret"): DigestClient =>
  new DigestClient({ user: "alice", password }, system);
const invite = (): SipRequest => sipRequest("INVITE", "sip:+49891234@example.com;transport=tls");

function challengeResponse(status: 401 | 407, ...values: string[]): SipResponse {
  const headers = new SipHeaders();
  for (const value of values) headers.add(status === 401 ? "WWW-Authenticate" : "Proxy-Authenticate", value);
  return { kind: "response", status, reason: "", headers, body: EMPTY_BODY };
}

/** Credentials of a request with this authentication: the parameters of each field, by name. */
function sentCredentials(authentication: DigestAuthentication, request = invite()): Record<string, string>[] {
  authentication.authorize(request);
  return [...request.headers].map(([field, value]) => ({
    field,
    ...Object.fromEntries(
      Array.from(value.matchAll(/(\w+)=(?:"([^"]*)"|([^,]*))/g), ([, name, quoted, unquoted]) => [
        name,
        quoted ?? unquoted,
      ]),
    ),
  }));
}

describe("a request that is challenged", () => {
  test("gets credentials in the challenge's field", () => {
    const authentication = client().authentication();
    expect(sentCredentials(authentication)).toEqual([]);
    expect(
      authentication.handleChallenge(
        challengeResponse(407, 'Digest realm="wa.meta.vc", nonce="n1", opaque="o", algorithm=SHA-256, qop="auth"'),
      ),
    ).toBeUndefined();
    expect(sentCredentials(authentication)).toEqual([
      {
        field: "Proxy-Authorization",
        username: "alice",
        realm: "wa.meta.vc",
        nonce: "n1",
        uri: "sip:+49891234@example.com;transport=tls",
        response: expect.stringMatching(/^[0-9a-f]{64}$/),
        algorithm: "SHA-256",
        cnonce: "ab".repeat(16),
        opaque: "o",
        qop: "auth",
        nc: "00000001",
      },
    ]);
  });

  test("uses the strongest known algorithm", () => {
    const authentication = client().authentication();
    const challenges = ["MD5", "AKAv2-MD5", "SHA-256", "SHA-1024"].map(
      (name) => `Digest realm="r", nonce="${name}", algorithm=${name}`,
    );
    expect(authentication.handleChallenge(challengeResponse(401, ...challenges))).toBeUndefined();
    expect(sentCredentials(authentication)).toMatchObject([
      { field: "Authorization", algorithm: "SHA-256", nonce: "SHA-256" },
    ]);
  });

  test("uses MD5 only as a reported fallback", () => {
    const digest = client();
    const authentication = digest.authentication();
    expect(
      authentication.handleChallenge(challengeResponse(401, 'Digest realm="r", nonce="n", Basic realm="r"')),
    ).toBeUndefined();
    expect(sentCredentials(authentication)).toHaveLength(1);
    expect(digest.realms).toEqual([{ realm: "r", algorithm: "MD5" }]);
  });

  test("responds to proxies in several realms and to the server", () => {
    const authentication = client().authentication();
    expect(
      authentication.handleChallenge(
        challengeResponse(407, 'Digest realm="p1", nonce="1"', 'Digest realm="p2", nonce="2"'),
      ),
    ).toBeUndefined();
    expect(sentCredentials(authentication)).toHaveLength(2);
    expect(authentication.handleChallenge(challengeResponse(401, 'Digest realm="p1", nonce="3"'))).toBeUndefined();
    expect(sentCredentials(authentication).map(({ field, nonce }) => [field, nonce])).toEqual([
      ["Proxy-Authorization", "1"],
      ["Proxy-Authorization", "2"],
      ["Authorization", "3"],
    ]);
  });

  test("responds to a proxy and a server at once", () => {
    const authentication = client().authentication();
    const bothChallenges = challengeResponse(401, 'Digest realm="a", nonce="1"');
    bothChallenges.headers.add("Proxy-Authenticate", 'Digest realm="b", nonce="2"');
    expect(authentication.handleChallenge(bothChallenges)).toBeUndefined();
    expect(sentCredentials(authentication).map(({ field }) => field)).toEqual(["Authorization", "Proxy-Authorization"]);
  });

  test("responds again for a stale nonce", () => {
    const authentication = client().authentication();
    authentication.handleChallenge(challengeResponse(401, 'Digest realm="r", nonce="n1", qop="auth"'));
    sentCredentials(authentication);
    expect(
      authentication.handleChallenge(challengeResponse(401, 'Digest realm="r", nonce="n2", qop="auth", stale=TRUE')),
    ).toBeUndefined();
    expect(sentCredentials(authentication)).toMatchObject([{ nonce: "n2", nc: "00000001" }]);
  });
});

describe("a later request", () => {
  test("carries credentials unchallenged, with a nonce count", () => {
    const digest = client();
    const first = digest.authentication();
    first.handleChallenge(challengeResponse(401, 'Digest realm="r", nonce="n", qop="auth"'));
    expect(sentCredentials(first)).toMatchObject([{ nc: "00000001" }]);
    expect(sentCredentials(digest.authentication(), sipRequest("BYE", "sip:b"))).toMatchObject([
      { nc: "00000002", uri: "sip:b" },
    ]);
    expect(sentCredentials(digest.authentication())).toMatchObject([{ nc: "00000003", nonce: "n" }]);
  });

  test("gets one more attempt if its nonce is refused, stale or not", () => {
    const digest = client();
    const first = digest.authentication();
    first.handleChallenge(challengeResponse(401, 'Digest realm="r", nonce="n1", qop="auth"'));
    sentCredentials(first);
    const second = digest.authentication();
    sentCredentials(second);
    expect(second.handleChallenge(challengeResponse(401, 'Digest realm="r", nonce="n2", qop="auth"'))).toBeUndefined();
    expect(sentCredentials(second)).toMatchObject([{ nonce: "n2", nc: "00000001" }]);
    expect(second.handleChallenge(challengeResponse(401, 'Digest realm="r", nonce="n3", qop="auth"'))).toMatchObject({
      code: "wrong_password",
    });
  });

  test("continues the count under a shared nonce", () => {
    const digest = client();
    const authentications = [digest.authentication(), digest.authentication()];
    for (const authentication of authentications) {
      expect(sentCredentials(authentication)).toEqual([]);
    }
    for (const authentication of authentications)
      authentication.handleChallenge(challengeResponse(401, 'Digest realm="r", nonce="n", qop="auth"'));
    expect(authentications.map((authentication) => sentCredentials(authentication)[0]?.nc)).toEqual([
      "00000001",
      "00000002",
    ]);
  });

  test("replaces old credentials in a copied request", () => {
    const digest = client();
    const authentication = digest.authentication();
    authentication.handleChallenge(challengeResponse(401, 'Digest realm="r", nonce="n"'));
    const request = invite();
    request.headers.add("Authorization", "Digest old").add("proxy-authorization", "Digest old");
    expect(sentCredentials(authentication, request)).toMatchObject([{ nonce: "n" }]);
  });

  test("carries credentials of the latest realms only", () => {
    const digest = client();
    const learnRealm = (realm: string): unknown =>
      digest.authentication().handleChallenge(challengeResponse(401, `Digest realm="${realm}", nonce="n"`));
    for (let realm = 0; realm < 100; realm++) learnRealm(String(realm));
    digest.authentication().handleChallenge(challengeResponse(401, 'Digest realm="92", nonce="new"'));
    learnRealm("100");
    expect(sentCredentials(digest.authentication()).map(({ realm }) => Number(realm))).toEqual([
      94, 95, 96, 97, 98, 99, 92, 100,
    ]);
  });
});

describe("a realm", () => {
  const challengeOf = (realm: string, algorithm = "MD5"): SipResponse =>
    challengeResponse(401, `Digest realm="${realm}", nonce="n", algorithm=${algorithm}`);

  test("is trusted if it is the first, or if learning is enabled", () => {
    const digest = client();
    expect(digest.authentication().handleChallenge(challengeOf("a"), false)).toBeUndefined();
    expect(digest.authentication().handleChallenge(challengeOf("b"), false)).toEqual({
      code: "other_realm",
      detail: expect.stringMatching(/realm "a", not for "b"/),
    });
    expect(digest.authentication().handleChallenge(challengeOf("b"))).toBeUndefined();
    expect(digest.authentication().handleChallenge(challengeOf("b"), false)).toBeUndefined();
  });

  test("that is unknown does not affect a known one next to it", () => {
    const digest = client();
    digest.authentication().handleChallenge(challengeOf("a"));
    const authentication = digest.authentication();
    const bothChallenges = challengeOf("evil");
    bothChallenges.headers.add("Proxy-Authenticate", 'Digest realm="a", nonce="2"');
    expect(authentication.handleChallenge(bothChallenges, false)).toBeUndefined();
    expect(sentCredentials(authentication).map(({ realm }) => realm)).toEqual(["a", "a"]);
  });

  test("may change to stronger algorithms, not back", () => {
    const digest = client();
    for (const algorithm of ["MD5", "SHA-256-sess", "SHA-256"])
      expect(digest.authentication().handleChallenge(challengeOf("a", algorithm)), algorithm).toBeUndefined();
    for (const algorithm of ["MD5", "MD5-sess"])
      expect(digest.authentication().handleChallenge(challengeOf("a", algorithm)), algorithm).toEqual({
        code: "weaker_algorithm",
        detail: expect.stringContaining("has used SHA-256 before"),
      });
    expect(digest.authentication().handleChallenge(challengeOf("b", "MD5"))).toBeUndefined();
  });

  test("of a registration is separate from those of calls", () => {
    const digest = client();
    const registration = digest.authentication();
    sentCredentials(registration, sipRequest("REGISTER", "sip:b"));
    registration.handleChallenge(challengeOf("a"));
    expect(sentCredentials(registration, sipRequest("REGISTER", "sip:b"))).toHaveLength(1);
    expect(sentCredentials(digest.authentication(), sipRequest("OPTIONS", "sip:b"))).toHaveLength(1);
    expect(sentCredentials(digest.authentication())).toEqual([]);
  });
});

describe("a challenge gets no response", () => {
  const digestChallenge = (params: string): SipResponse => challengeResponse(401, `Digest realm="r", ${params}`);

  test("if the password is wrong, with the same nonce or a new one", () => {
    for (const nonce of ["n1", "n2"]) {
      const authentication = client().authentication();
      authentication.handleChallenge(digestChallenge('nonce="n1"'));
      sentCredentials(authentication);
      expect(authentication.handleChallenge(digestChallenge(`nonce="${nonce}"`))).toEqual({
        code: "wrong_password",
        detail: 'the server refused the user "alice" with this password (realm "r")',
      });
    }
  });

  test("if a nonce that worked before is refused", () => {
    const digest = client();
    const first = digest.authentication();
    first.handleChallenge(digestChallenge('nonce="n1", qop=auth'));
    sentCredentials(first);
    const second = digest.authentication();
    sentCredentials(second);
    expect(second.handleChallenge(digestChallenge('nonce="n1", qop=auth'))).toMatchObject({ code: "wrong_password" });
  });

  test("without a supported algorithm; the error names the required one", () => {
    expect(
      client()
        .authentication()
        .handleChallenge(challengeResponse(401, 'Digest realm="r", nonce="n", algorithm=AKAv1-MD5', "NTLM")),
    ).toEqual({
      code: "unsupported",
      detail:
        'the server requires the digest algorithm "AKAv1-MD5" or the authentication scheme "ntlm", which is not supported',
    });
  });

  test("without a password", () => {
    const authentication = new DigestClient({ user: "alice", password: undefined }, system).authentication();
    expect(authentication.handleChallenge(digestChallenge('nonce="n"'))).toEqual({
      code: "no_password",
      detail: 'the server requires a password (realm "r"), and none is configured',
    });
    expect(sentCredentials(authentication)).toEqual([]);
  });

  test("if every nonce is stale", () => {
    const authentication = client().authentication();
    const results = Array.from({ length: 4 }, (_, round) => {
      const result = authentication.handleChallenge(digestChallenge(`nonce="n${round}", stale=true`));
      sentCredentials(authentication);
      return result;
    });
    const refusal = { code: "unusable_challenge", detail: 'the server reports every nonce as stale (realm "r")' };
    expect(results).toEqual([undefined, undefined, undefined, refusal]);
  });

  test("if the response has no challenge", () => {
    expect(client().authentication().handleChallenge(challengeResponse(401))).toEqual({
      code: "unusable_challenge",
      detail: "the server requires authentication, but sends no challenge",
    });
  });
});
