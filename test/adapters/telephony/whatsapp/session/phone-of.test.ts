import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { masked, phoneOf } from "../../../../../adapters/telephony/whatsapp/session/phone-of.ts";

describe("the number in an address", () => {
  test.each([
    ["5511987654321:12@s.whatsapp.net", "+5511987654321"],
    ["5511987654321@s.whatsapp.net", "+5511987654321"],
    ["12025550123.0:3@s.whatsapp.net", "+12025550123"],
    ["123456789012345@lid", null],
    ["0511987654321@s.whatsapp.net", null],
    ["s.whatsapp.net", null],
    ["", null],
    [undefined, null],
  ])("of %s is %s", (jid, phone) => {
    expect(phoneOf(jid)).toBe(phone);
  });

  test("is E.164 or null for any address", () => {
    const jid = fc.oneof(
      fc.anything(),
      fc.tuple(fc.string(), fc.string()).map(([user, server]) => `${user}@${server}`),
    );
    fc.assert(fc.property(jid, (value) => /^\+[1-9]\d{6,14}$/.test(phoneOf(value) ?? "+1234567")));
  });
});

describe("text for the log", () => {
  test("keeps words, and hides numbers and keys", () => {
    expect(masked("no session for 5511987654321:12@s.whatsapp.net")).toBe("no session for …21:12@s.whatsapp.net");
    expect(masked("2@Kx0yHq7vB1t3lFzQ9aJp5w+/aaaa==,next")).toBe("2@…,next");
    expect(masked("comms connection timeout after 10000ms")).toBe("comms connection timeout after 10000ms");
  });

  test("never holds six digits in a row", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("1", "9", "a", "@", ":") }), (text) => !/\d{6}/.test(masked(text))),
    );
  });
});
