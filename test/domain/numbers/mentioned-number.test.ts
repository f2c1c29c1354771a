import { describe, expect, test } from "vitest";
import { mentionedNumber } from "../../../src/domain/numbers/mentioned-number.ts";

describe("a number in a text", () => {
  test.each([
    "+12025550100",
    '{"to":"+12025550100"}',
    "sip:12025550100@example.com",
    "tel:%2b12025550100;phone-context=x",
    "0012025550100",
    "12025550100|s.whatsapp.net|0",
    "call 12025550100.",
  ])("is found in %s", (text) => {
    expect(mentionedNumber("+12025550100").isIn(text)).toBe(true);
  });

  test.each(["+120255501001", "112025550100", "+1202555010", "120.255.50.100", "", "+1 202 555 0100"])(
    "is not found in %j",
    (text) => {
      expect(mentionedNumber("+12025550100").isIn(text)).toBe(false);
    },
  );

  test("needs a plus or an address if it is short", () => {
    const { isIn } = mentionedNumber("+2907123");
    for (const text of ["+2907123", "2907123@trunk", "002907123"]) expect(isIn(text)).toBe(true);
    for (const text of ["2907123", '"ms":2907123', "+29071234"]) expect(isIn(text)).toBe(false);
  });
});
