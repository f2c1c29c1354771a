import { describe, expect, test } from "vitest";
import { DigestClient } from "../../../adapters/sip-stack/auth/digest.ts";
import type { DigestAuthentication } from "../../../adapters/sip-stack/auth/digest-authentication.ts";
import { SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import {
  EMPTY_BODY,
  type SipRequest,
  type SipResponse,
  sipRequest,
} from "../../../adapters/sip-stack/message/message.ts";

const chance = { random: (bytes: Uint8Array): void => void bytes.fill(0xab) };
const client = (password: string | undefined = "s3cret"): DigestClient =>
  new DigestClient({ user: "alice", password }, chance);
const invite = (): SipRequest => sipRequest("INVITE", "sip:+49891234@example.com;transport=tls");

function challenged(status: 401 | 407, ...values: string[]): SipResponse {
  const headers = new SipHeaders();
  for (const value of values) headers.add(status === 401 ? "WWW-Authenticate" : "Proxy-Authenticate", value);
  return { kind: "response", status, reason: "", headers, body: EMPTY_BODY };
}

/** Credentials of a request with this authentication: the parameters of each field, by name. */
function sent(authentication: DigestAuthentication, request = invite()): Record<string, string>[] {
  authentication.authorize(request);
  return [...request.headers].map(([field, value]) => ({
    field,
    ...Object.fromEntries(
      Array.from(value.matchAll(/(\w+)=(?:"([^"]*)"|([^,]*))/g), ([, name, quoted, plain]) => [name, quoted ?? plain]),
    ),
  }));
}

describe("a request that is challenged", () => {
  test("gets credentials in the challenge's field", () => {
    const authentication = client().authentication();
    expect(sent(authentication)).toEqual([]);
    expect(
      authentication.challenged(
        challenged(407, 'Digest realm="wa.meta.vc", nonce="n1", opaque="o", algorithm=SHA-256, qop="auth"'),
      ),
    ).toBeUndefined();
    expect(sent(authentication)).toEqual([
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
    const asked = ["MD5", "AKAv2-MD5", "SHA-256", "SHA-1024"].map(
      (name) => `Digest realm="r", nonce="${name}", algorithm=${name}`,
    );
    expect(authentication.challenged(challenged(401, ...asked))).toBeUndefined();
    expect(sent(authentication)).toMatchObject([{ field: "Authorization", algorithm: "SHA-256", nonce: "SHA-256" }]);
  });

  test("uses MD5 only as a reported fallback", () => {
    const digest = client();
    const authentication = digest.authentication();
    expect(authentication.challenged(challenged(401, 'Digest realm="r", nonce="n", Basic realm="r"'))).toBeUndefined();
    expect(sent(authentication)).toHaveLength(1);
    expect(digest.realms).toEqual([{ realm: "r", algorithm: "MD5" }]);
  });

  test("responds to proxies of several realms and the server", () => {
    const authentication = client().authentication();
    expect(
      authentication.challenged(challenged(407, 'Digest realm="p1", nonce="1"', 'Digest realm="p2", nonce="2"')),
    ).toBeUndefined();
    expect(sent(authentication)).toHaveLength(2);
    expect(authentication.challenged(challenged(401, 'Digest realm="p1", nonce="3"'))).toBeUndefined();
    expect(sent(authentication).map(({ field, nonce }) => [field, nonce])).toEqual([
      ["Proxy-Authorization", "1"],
      ["Proxy-Authorization", "2"],
      ["Authorization", "3"],
    ]);
  });

  test("responds to a proxy and a server together", () => {
    const authentication = client().authentication();
    const both = challenged(401, 'Digest realm="a", nonce="1"');
    both.headers.add("Proxy-Authenticate", 'Digest realm="b", nonce="2"');
    expect(authentication.challenged(both)).toBeUndefined();
    expect(sent(authentication).map(({ field }) => field)).toEqual(["Authorization", "Proxy-Authorization"]);
  });

  test("responds again for a stale nonce", () => {
    const authentication = client().authentication();
    authentication.challenged(challenged(401, 'Digest realm="r", nonce="n1", qop="auth"'));
    sent(authentication);
    expect(
      authentication.challenged(challenged(401, 'Digest realm="r", nonce="n2", qop="auth", stale=TRUE')),
    ).toBeUndefined();
    expect(sent(authentication)).toMatchObject([{ nonce: "n2", nc: "00000001" }]);
  });
});

describe("a later request", () => {
  test("carries credentials unchallenged, with a nonce count", () => {
    const digest = client();
    const first = digest.authentication();
    first.challenged(challenged(401, 'Digest realm="r", nonce="n", qop="auth"'));
    expect(sent(first)).toMatchObject([{ nc: "00000001" }]);
    expect(sent(digest.authentication(), sipRequest("BYE", "sip:b"))).toMatchObject([{ nc: "00000002", uri: "sip:b" }]);
    expect(sent(digest.authentication())).toMatchObject([{ nc: "00000003", nonce: "n" }]);
  });

  test("gets one more attempt if its nonce is refused, stale or not", () => {
    const digest = client();
    const first = digest.authentication();
    first.challenged(challenged(401, 'Digest realm="r", nonce="n1", qop="auth"'));
    sent(first);
    const second = digest.authentication();
    sent(second);
    expect(second.challenged(challenged(401, 'Digest realm="r", nonce="n2", qop="auth"'))).toBeUndefined();
    expect(sent(second)).toMatchObject([{ nonce: "n2", nc: "00000001" }]);
    expect(second.challenged(challenged(401, 'Digest realm="r", nonce="n3", qop="auth"'))).toMatchObject({
      code: "wrong_password",
    });
  });

  test("continues the count under a shared nonce", () => {
    const digest = client();
    const authentications = [digest.authentication(), digest.authentication()];
    for (const authentication of authentications) {
      expect(sent(authentication)).toEqual([]);
    }
    for (const authentication of authentications)
      authentication.challenged(challenged(401, 'Digest realm="r", nonce="n", qop="auth"'));
    expect(authentications.map((authentication) => sent(authentication)[0]?.nc)).toEqual(["00000001", "00000002"]);
  });

  test("replaces the credentials that it was copied with", () => {
    const digest = client();
    const authentication = digest.authentication();
    authentication.challenged(challenged(401, 'Digest realm="r", nonce="n"'));
    const request = invite();
    request.headers.add("Authorization", "Digest old").add("proxy-authorization", "Digest old");
    expect(sent(authentication, request)).toMatchObject([{ nonce: "n" }]);
  });

  test("carries credentials of the latest realms only", () => {
    const digest = client();
    const asks = (realm: string): unknown =>
      digest.authentication().challenged(challenged(401, `Digest realm="${realm}", nonce="n"`));
    for (let realm = 0; realm < 100; realm++) asks(String(realm));
    digest.authentication().challenged(challenged(401, 'Digest realm="92", nonce="new"'));
    asks("100");
    expect(sent(digest.authentication()).map(({ realm }) => Number(realm))).toEqual([94, 95, 96, 97, 98, 99, 92, 100]);
  });
});

describe("a realm", () => {
  const asks = (realm: string, algorithm = "MD5"): SipResponse =>
    challenged(401, `Digest realm="${realm}", nonce="n", algorithm=${algorithm}`);

  test("is trusted if it is the first, or if learning is enabled", () => {
    const digest = client();
    expect(digest.authentication().challenged(asks("a"), false)).toBeUndefined();
    expect(digest.authentication().challenged(asks("b"), false)).toEqual({
      code: "other_realm",
      detail: expect.stringMatching(/realm "a", not for "b"/),
    });
    expect(digest.authentication().challenged(asks("b"))).toBeUndefined();
    expect(digest.authentication().challenged(asks("b"), false)).toBeUndefined();
  });

  test("that is unknown does not affect a known one next to it", () => {
    const digest = client();
    digest.authentication().challenged(asks("a"));
    const authentication = digest.authentication();
    const both = asks("evil");
    both.headers.add("Proxy-Authenticate", 'Digest realm="a", nonce="2"');
    expect(authentication.challenged(both, false)).toBeUndefined();
    expect(sent(authentication).map(({ realm }) => realm)).toEqual(["a", "a"]);
  });

  test("may change to stronger algorithms, not back", () => {
    const digest = client();
    for (const algorithm of ["MD5", "SHA-256-sess", "SHA-256"])
      expect(digest.authentication().challenged(asks("a", algorithm)), algorithm).toBeUndefined();
    for (const algorithm of ["MD5", "MD5-sess"])
      expect(digest.authentication().challenged(asks("a", algorithm)), algorithm).toEqual({
        code: "weaker_algorithm",
        detail: expect.stringContaining("has used SHA-256 before"),
      });
    expect(digest.authentication().challenged(asks("b", "MD5"))).toBeUndefined();
  });

  test("of a registration is separate from calls'", () => {
    const digest = client();
    const registration = digest.authentication();
    sent(registration, sipRequest("REGISTER", "sip:b"));
    registration.challenged(asks("a"));
    expect(sent(registration, sipRequest("REGISTER", "sip:b"))).toHaveLength(1);
    expect(sent(digest.authentication(), sipRequest("OPTIONS", "sip:b"))).toHaveLength(1);
    expect(sent(digest.authentication())).toEqual([]);
  });
});

describe("a challenge gets no response", () => {
  const digestChallenge = (rest: string): SipResponse => challenged(401, `Digest realm="r", ${rest}`);

  test("if the password is wrong, with the same nonce or a new one", () => {
    for (const nonce of ["n1", "n2"]) {
      const authentication = client().authentication();
      authentication.challenged(digestChallenge('nonce="n1"'));
      sent(authentication);
      expect(authentication.challenged(digestChallenge(`nonce="${nonce}"`))).toEqual({
        code: "wrong_password",
        detail: 'the server refused the user "alice" with this password (realm "r")',
      });
    }
  });

  test("if a nonce that worked before is refused", () => {
    const digest = client();
    const first = digest.authentication();
    first.challenged(digestChallenge('nonce="n1", qop=auth'));
    sent(first);
    const second = digest.authentication();
    sent(second);
    expect(second.challenged(digestChallenge('nonce="n1", qop=auth'))).toMatchObject({ code: "wrong_password" });
  });

  test("without a supported algorithm; the error names it", () => {
    expect(
      client()
        .authentication()
        .challenged(challenged(401, 'Digest realm="r", nonce="n", algorithm=AKAv1-MD5', "NTLM")),
    ).toEqual({
      code: "unsupported",
      detail:
        'the server requires the digest algorithm "AKAv1-MD5" or the authentication scheme "ntlm", which is not supported',
    });
  });

  test("if there is no password", () => {
    const authentication = new DigestClient({ user: "alice", password: undefined }, chance).authentication();
    expect(authentication.challenged(digestChallenge('nonce="n"'))).toEqual({
      code: "no_password",
      detail: 'the server requires a password (realm "r"), and none is configured',
    });
    expect(sent(authentication)).toEqual([]);
  });

  test("if every nonce is stale", () => {
    const authentication = client().authentication();
    const results = Array.from({ length: 4 }, (_, round) => {
      const result = authentication.challenged(digestChallenge(`nonce="n${round}", stale=true`));
      sent(authentication);
      return result;
    });
    const refusal = { code: "unusable_challenge", detail: 'the server calls each of its nonces stale (realm "r")' };
    expect(results).toEqual([undefined, undefined, undefined, refusal]);
  });

  test("if the response has no challenge", () => {
    expect(client().authentication().challenged(challenged(401))).toEqual({
      code: "unusable_challenge",
      detail: "the server requires authentication, but sends no challenge",
    });
  });
});
