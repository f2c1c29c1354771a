import fc from "fast-check";
import { expect, test } from "vitest";
import { numberFrom } from "../../../../adapters/console/app/pages/phone/remembered-number.ts";
import { PHONE_NUMBER } from "../../../../src/domain/numbers/phone-number.ts";

test.each([
  ["+12025550147", "+12025550147"],
  ["+1 (202) 555-0147", "+12025550147"],
  ["001 202.555.0147", "+12025550147"],
  [" 12025550147", "+12025550147"], // an unencoded plus in a query
  ["+55 11 91234–5678", "+5511912345678"],
  ["12025550147", undefined],
  ["+0123456789", undefined],
  ["+123", undefined],
  ["+1202555014a", undefined],
  ["", undefined],
])("%j is parsed as %j", (text, number) => {
  expect(numberFrom(text)).toBe(number);
});

test("any text is parsed as a number that the server accepts, or as none", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\+?[0-9 ().-]{0,20}$/)), (text) => {
      const number = numberFrom(text);
      expect(number === undefined || PHONE_NUMBER.test(number)).toBe(true);
    }),
  );
});
