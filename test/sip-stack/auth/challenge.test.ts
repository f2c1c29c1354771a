import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { digestChallenge, parseChallenges } from "../../../adapters/sip-stack/auth/challenge.ts";
import { fuzz } from "../../support/fuzz.ts";

const readChallenges = (text: string): unknown =>
  parseChallenges(text).map(({ scheme, params }) => ({ scheme, ...Object.fromEntries(params) }));

describe("a server's challenges", () => {
  test("are read from one field, separated by whitespace", () => {
    expect(readChallenges('Digest realm = "a, b" ,nonce=x,  Basic realm="c", DIGEST Nonce="1\\"2"')).toEqual([
      { scheme: "digest", realm: "a, b", nonce: "x" },
      { scheme: "basic", realm: "c" },
      { scheme: "digest", nonce: '1"2' },
    ]);
  });

  test("are read for schemes without parameters", () => {
    expect(readChallenges('NTLM TlRMTVNTUAAB==, Negotiate, Digest realm="r"')).toMatchObject([
      { scheme: "ntlm" },
      expect.anything(),
      { scheme: "negotiate" },
      { scheme: "digest", realm: "r" },
    ]);
  });

  test("are skipped if malformed", () => {
    expect(readChallenges("")).toEqual([]);
    expect(readChallenges('realm="r"')).toEqual([]);
    expect(readChallenges('Digest realm="r')).toEqual([{ scheme: "digest", realm: "" }, { scheme: "r" }]);
    expect(readChallenges('Digest ,, nonce=1,,"x" opaque')).toMatchObject([{ scheme: "digest", nonce: "1" }, {}, {}]);
  });

  test.each([
    ['Digest nonce="n", algorithm=AKAv1-MD5', 'the digest algorithm "AKAv1-MD5"'],
    ['Digest nonce="n", qop="auth-int"', 'the quality of protection "auth-int"'],
    ['Digest realm="r"', "a digest without a nonce"],
    ['Basic realm="r"', 'the authentication scheme "basic"'],
  ])("of an unsupported kind name their requirement: %s", (text, expected) => {
    expect(parseChallenges(text).map(digestChallenge)).toEqual([expected]);
  });

  test.each(["md5", "MD5-sess", "sha-256", "SHA-256-SESS", "SHA-512-256", "SHA-512-256-sess"])(
    "may name %s in any case",
    (name) => {
      const [challenge] = parseChallenges(`Digest nonce="n", algorithm="${name}"`).map(digestChallenge);
      expect(challenge).toMatchObject({ algorithm: { session: /sess/i.test(name) }, algorithmText: name });
    },
  );

  fuzz(
    "never make the parser throw",
    fc.property(fc.string({ unit: fc.constantFrom(...'Da =,"\\\tx'), maxLength: 60 }), (text) => {
      for (const { scheme } of parseChallenges(text)) expect(scheme).not.toBe("");
    }),
  );
});
