import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseNameAddr, tagOf, withTag, writeNameAddr } from "../../../adapters/sip-stack/message/name-addr.ts";
import { fuzz } from "../../support/fuzz.ts";
import { token } from "./arbitraries.ts";

describe("an address", () => {
  test.each([
    ['"A \\"B\\" <c>" <sip:d@e;lr>;tag=f', 'A "B" <c>', "sip:d@e;lr", { tag: "f" }],
    ["Bob Miller <sip:b@c> ;expires=3600;q=0.5", "Bob Miller", "sip:b@c", { expires: "3600", q: "0.5" }],
    ["<sip:b@c>", undefined, "sip:b@c", {}],
    ["sip:b@c;tag=x;user=phone", undefined, "sip:b@c", { tag: "x", user: "phone" }],
    ["tel:+4989;phone-context=x", undefined, "tel:+4989", { "phone-context": "x" }],
    ["<urn:service:sos>", undefined, "urn:service:sos", {}],
    [
      '<sip:b@c>;+sip.instance="<urn:uuid:1>";reg-id=1',
      undefined,
      "sip:b@c",
      { "+sip.instance": "<urn:uuid:1>", "reg-id": "1" },
    ],
    ['""<sip:b@c>;TAG=Ab;', "", "sip:b@c", { tag: "Ab" }],
    ["<sip:b@c>;tag=1;TAG=2", undefined, "sip:b@c", { tag: "1" }],
  ])("is read from %s", (text, display, uri, params) => {
    expect(parseNameAddr(text)).toEqual({ display, uri, params: new Map(Object.entries(params)) });
  });

  test.each([
    "",
    "*",
    "bob",
    '"bob" sip:b@c',
    '"bob <sip:b@c>',
    "<sip:b@c",
    "<>",
    "<sip:b c@d>",
    "sip:b@c?x=y",
    "sip:b@c,sip:d@e",
    'bob" <sip:b@c>',
    "<sip:b@c>;;tag=x",
    "<sip:b@c>tag=x",
    '<sip:b@c>;tag="x',
    "<sip:b@c>,<sip:d@e>",
    "sip:b@c;=x",
  ])("is not read from %j", (text) => {
    expect(parseNameAddr(text)).toBeUndefined();
  });

  test("gets a tag and is otherwise unchanged", () => {
    expect(withTag('"B"  <sip:b@c> ; x=Y', "1")).toBe('"B"  <sip:b@c> ; x=Y;tag=1');
    expect(withTag("<sip:b@c>;tag=0;x=y", "1")).toBe("<sip:b@c>;tag=1;x=y");
    expect(tagOf(withTag("sip:b@c;user=phone", "1"))).toBe("1");
    expect([tagOf(undefined), tagOf("<sip:b@c>"), tagOf("<sip:b@c>;tag="), tagOf("invalid")]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("without a name is written without one", () => {
    expect(writeNameAddr({ display: undefined, uri: "sip:b@c", params: new Map() })).toBe("<sip:b@c>");
  });

  fuzz(
    "is read as it was written",
    fc.property(
      fc.record({
        display: fc.option(fc.string({ maxLength: 10 }), { nil: undefined }),
        uri: fc.constantFrom("sip:b@c;lr", "tel:+49", "sips:[::1]:5061"),
        params: fc
          .array(
            fc.tuple(
              token.map((name) => name.toLowerCase()),
              fc.string({ maxLength: 8 }),
            ),
            { maxLength: 3 },
          )
          .map((pairs) => new Map(pairs)),
      }),
      (address) => {
        expect(parseNameAddr(writeNameAddr(address))).toEqual(address);
      },
    ),
  );
});
