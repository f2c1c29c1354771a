import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseUri, type SipUri, sameUri, sipUri, writeUri } from "../../../adapters/sip-stack/message/uri.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";
import { host, port, token } from "./arbitraries.ts";

const parsedUri = (text: string): SipUri => {
  const uri = parseUri(text);
  if (uri === undefined) throw new Error(`no URI: ${text}`);
  return uri;
};

const words = fc
  .string({ unit: CODE_POINT, minLength: 1, maxLength: 8 })
  .map((text) => text.replace(/[\ud800-\udfff]/g, "x"));
const anyUri: fc.Arbitrary<SipUri> = fc
  .record({
    scheme: fc.constantFrom("sip" as const, "sips" as const),
    user: fc.option(words, { nil: undefined }),
    password: fc.option(words, { nil: undefined }),
    host,
    port,
    params: fc.array(
      fc.tuple(
        token.map((name) => name.toLowerCase()),
        fc.oneof(fc.constant(""), words),
      ),
      { maxLength: 3 },
    ),
    headers: fc.array(fc.tuple(token, words), { maxLength: 3 }),
  })
  .map(({ params, password, ...uri }) => ({
    ...uri,
    password: uri.user === undefined ? undefined : password,
    params: new Map(params),
  }));

describe("a SIP URI", () => {
  test("is read with all its parts", () => {
    expect(parsedUri("SIPS:alice:s%40fe@Example.COM:5061;transport=TLS;LR;x=a%3Bb?subject=a%20b&to=c")).toEqual({
      scheme: "sips",
      user: "alice",
      password: "s@fe",
      host: "example.com",
      port: 5061,
      params: new Map([
        ["transport", "TLS"],
        ["lr", ""],
        ["x", "a;b"],
      ]),
      headers: [
        ["subject", "a b"],
        ["to", "c"],
      ],
    });
  });

  test("has the first of two same-named parameters", () => {
    expect(parsedUri("sip:a@b;x=1;X=2").params).toEqual(new Map([["x", "1"]]));
  });

  test.each([
    ["sip:[2001:db8::9]:5070;lr", "2001:db8::9", 5070],
    ["sip:bob@[::1]", "::1", undefined],
    ["sip:10.0.0.5", "10.0.0.5", undefined],
    ["sip:host_1.example.:65535", "host_1.example.", 65_535],
  ])("has its host in %s without brackets", (text, host, port) => {
    expect(parsedUri(text)).toMatchObject({ host, port });
    expect(writeUri(parsedUri(text))).toBe(text);
  });

  test.each([
    "",
    "sip:",
    "sip",
    "tel:+4930",
    "http://example.com",
    "sip:@example.com",
    "sip:a@",
    "sip:a@b@c",
    "sip:a@exa mple.com",
    " sip:a@b",
    "sip:a@b ",
    "<sip:a@b>",
    "sip:a@b:0",
    "sip:a@b:65536",
    "sip:a@b:x",
    "sip:a@[::1",
    "sip:a@[1.2.3.4]",
    "sip:a@::1",
    "sip:a@b;;c",
    "sip:a@b;=c",
    "sip:a@-b",
    `sip:a@${"b".repeat(256)}`,
    "sip:a@b\r\nX:",
    "sip:a\0b@c\n",
  ])("is not read from %j", (text) => {
    expect(parseUri(text)).toBeUndefined();
  });

  test("is written with the necessary escapes only", () => {
    expect(writeUri(sipUri({ host: "h.test", user: "+49 (89)/1;x=@?é", password: "a:b" }))).toBe(
      "sip:+49%20(89)/1;x=%40?%C3%A9:a%3Ab@h.test",
    );
    expect(
      writeUri(
        sipUri({
          host: "h",
          params: new Map([
            ["maddr", "[::1]"],
            ["x", "a b;c"],
            ["lr", ""],
          ]),
        }),
      ),
    ).toBe("sip:h;maddr=[::1];x=a%20b%3Bc;lr");
  });

  fuzz(
    "is read as it was written",
    fc.property(anyUri, (uri) => {
      expect(parseUri(writeUri(uri))).toEqual(uri);
    }),
  );
});

/** The examples of RFC 3261 section 19.1.4, and others. */
describe("two SIP URIs", () => {
  test.each([
    ["sip:%61lice@atlanta.com;transport=TCP", "sip:alice@AtlanTa.CoM;Transport=tcp"],
    ["sip:carol@chicago.com", "sip:carol@chicago.com;newparam=5"],
    ["sip:carol@chicago.com;security=on", "sip:carol@chicago.com;newparam=5"],
    [
      "sip:biloxi.com;transport=tcp;method=REGISTER?to=sip:bob%40biloxi.com",
      "sip:biloxi.com;method=REGISTER;transport=tcp?to=sip:bob%40biloxi.com",
    ],
    [
      "sip:alice@atlanta.com?subject=project%20x&priority=urgent",
      "sip:alice@atlanta.com?priority=urgent&subject=project%20x",
    ],
    ["sip:[2001:DB8::1]", "sip:[2001:db8::1]"],
  ])("are equal: %s, %s", (a, b) => {
    expect(sameUri(parsedUri(a), parsedUri(b))).toBe(true);
    expect(sameUri(parsedUri(b), parsedUri(a))).toBe(true);
  });

  test.each([
    ["SIP:ALICE@AtLanTa.CoM;Transport=udp", "sip:alice@AtLanTa.CoM;Transport=UDP"],
    ["sip:bob@biloxi.com", "sip:bob@biloxi.com:5060"],
    ["sip:bob@biloxi.com", "sip:bob@biloxi.com;transport=udp"],
    ["sip:bob@biloxi.com", "sip:bob@biloxi.com:6000;transport=tcp"],
    ["sip:carol@chicago.com", "sip:carol@chicago.com?Subject=next%20meeting"],
    ["sip:bob@phone21.boxesbybob.com", "sip:bob@192.0.2.4"],
    ["sip:carol@chicago.com;security=on", "sip:carol@chicago.com;security=off"],
    ["sip:carol@chicago.com", "sips:carol@chicago.com"],
    ["sip:carol:a@chicago.com", "sip:carol:b@chicago.com"],
    ["sip:carol@chicago.com", "sip:carol@chicago.com;maddr=1.2.3.4"],
    ["sip:carol@chicago.com;ttl=1", "sip:carol@chicago.com"],
  ])("are not equal: %s, %s", (a, b) => {
    expect(sameUri(parsedUri(a), parsedUri(b))).toBe(false);
    expect(sameUri(parsedUri(b), parsedUri(a))).toBe(false);
  });
});
