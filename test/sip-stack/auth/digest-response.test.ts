import { describe, expect, test } from "vitest";
import { type DigestChallenge, digestChallenge, parseChallenges } from "../../../adapters/sip-stack/auth/challenge.ts";
import { digestResponse } from "../../../adapters/sip-stack/auth/digest-authentication.ts";

function challenge(text: string): DigestChallenge {
  const parsed = digestChallenge(parseChallenges(text)[0] ?? { scheme: "none", params: new Map() });
  if (typeof parsed === "string") throw new Error(parsed);
  return parsed;
}

const response = (value: string): string | undefined => /response="(\w+)"/.exec(value)?.[1];

const MUFASA = {
  user: "Mufasa",
  password: "Circle of Life",
  cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
  count: 1,
};
const GET = { method: "GET", uri: "/dir/index.html" };
const RFC_7616 =
  'Digest realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"';

describe("a digest response", () => {
  test.each([
    ["SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"],
    ["MD5", "8ca523f5e9506fed4657c9700eebdbec"],
  ])("equals RFC 7616 section 3.9.1 for %s", (algorithm, expected) => {
    expect(digestResponse(challenge(`${RFC_7616}, algorithm=${algorithm}`), MUFASA, GET)).toBe(
      `Digest username="Mufasa", realm="http-auth@example.org", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", response="${expected}", algorithm=${algorithm}, cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", qop=auth, nc=00000001`,
    );
  });

  test("matches RFC 7616 section 3.9.2 for SHA-512-256, as corrected by erratum 4897", () => {
    const parsed = challenge(
      'Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true',
    );
    const credentials = {
      user: "Jäsøn Doe",
      password: "Secret, or not?",
      cnonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v",
      count: 1,
    };
    const header = digestResponse(parsed, credentials, { method: "GET", uri: "/doe.json" });
    expect(response(header)).toBe("3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5");
    expect(header).toContain('username="Jäsøn Doe"');
    expect(header).not.toContain("userhash");
  });

  test("matches RFC 2617 section 3.5", () => {
    const parsed = challenge(
      'Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
    );
    const credentials = { user: "Mufasa", password: "Circle Of Life", cnonce: "0a4f113b", count: 1 };
    const header = digestResponse(parsed, credentials, GET);
    expect(response(header)).toBe("6629fae49393a05397450978507c4ef1");
    expect(header).not.toContain("algorithm");
  });

  test("matches RFC 2069 without qop, as corrected by erratum 749", () => {
    const parsed = challenge(
      'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
    );
    const credentials = { user: "Mufasa", password: "CircleOfLife", cnonce: "x", count: 7 };
    const header = digestResponse(parsed, credentials, GET);
    expect(response(header)).toBe("1949323746fe6a43ef61f9606e7febea");
    expect(header).not.toMatch(/cnonce|nc=|qop/);
  });

  test("includes nonce and cnonce in the secret of a -sess algorithm", () => {
    // computed with the shell: for each step printf '%s' … | md5sum
    const parsed = challenge('Digest realm="r", nonce="n", algorithm=MD5-sess, qop=auth');
    const header = digestResponse(
      parsed,
      { user: "u", password: "p", cnonce: "c", count: 1 },
      { method: "REGISTER", uri: "sip:r" },
    );
    expect(response(header)).toBe("9fcc4392a91dc57e8c83c2241da62025");
  });

  test("counts requests with eight hex digits", () => {
    expect(digestResponse(challenge(RFC_7616), { ...MUFASA, count: 4_000 }, GET)).toContain("nc=00000fa0");
  });

  test("escapes quotes and backslashes in quoted values, but not in hashed ones", () => {
    const parsed = challenge('Digest realm="a \\"b\\" c", nonce="x\\\\y", opaque=""');
    expect(parsed.realm).toBe('a "b" c');
    const header = digestResponse(parsed, { user: "D\\u", password: "p", cnonce: "c", count: 1 }, GET);
    expect(header).toContain('username="D\\\\u", realm="a \\"b\\" c", nonce="x\\\\y"');
    expect(header).toContain('opaque=""');
  });
});
