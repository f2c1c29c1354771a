import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkedCallLimits, isAllowed, isPrefix, limitsWithin } from "../../../src/domain/calls/call-limits.ts";
import { fuzz } from "../../support/fuzz.ts";

const digits = (min: number, max: number) =>
  fc.tuple(fc.integer({ min: 1, max: 9 }), fc.stringMatching(new RegExp(`^[0-9]{${min - 1},${max - 1}}$`)));
const numbers = digits(7, 15).map(([first, rest]) => `+${first}${rest}`);
const prefixes = digits(1, 5).map(([first, rest]) => `+${first}${rest}`);
const limits = fc.record(
  {
    allowedPrefixes: fc.array(prefixes, { minLength: 1, maxLength: 4 }),
    maxCallsPerDay: fc.integer({ min: 1, max: 9 }),
  },
  { requiredKeys: [] },
);

describe("call limits", () => {
  test.each([
    [{ allowedPrefixes: ["0049"] }, 'allowedPrefixes contains "0049": write + and 1 to 15 digits'],
    [{ allowedPrefixes: ["+49", "49"] }, 'allowedPrefixes contains "49": write +'],
    [{ allowedPrefixes: ["+"] }, 'allowedPrefixes contains "+": write +'],
    [{ allowedPrefixes: ["+49 30"] }, 'allowedPrefixes contains "+49 30": write +'],
    [{ allowedPrefixes: [] }, "allowedPrefixes is []: it must be a list of prefixes"],
    [{ allowedPrefixes: "+49" }, 'allowedPrefixes is "+49": it must be a list of prefixes'],
    [{ allowedPrefixes: [null] }, "allowedPrefixes contains null: write +"],
    [{ maxCallsPerDay: 0 }, "maxCallsPerDay is 0: it must be a whole number from 1"],
    [{ maxCallsPerDay: -1 }, "maxCallsPerDay is -1: it must be a whole number from 1"],
    [{ maxCallsPerDay: 1.5 }, "maxCallsPerDay is 1.5: it must be a whole number from 1"],
    [{ maxCallsPerDay: "200" }, 'maxCallsPerDay is "200": it must be a whole number from 1'],
    [{ maxCallsPerDay: Number.NaN }, "maxCallsPerDay is null: it must be a whole number from 1"],
  ])("%j is refused with the value and the fix", (input, message) => {
    expect(() => checkedCallLimits(input as never)).toThrow(message);
  });

  test("a repeated prefix counts once, and a missing limit means unlimited", () => {
    expect(checkedCallLimits({ allowedPrefixes: ["+49", "+43", "+49"] }).allowedPrefixes).toEqual(["+49", "+43"]);
    expect(checkedCallLimits({})).toEqual({ allowedPrefixes: undefined, maxCallsPerDay: undefined });
    expect(isAllowed("+12025550100", undefined)).toBe(true);
  });

  test("limits beyond the issuer's are refused", () => {
    const issuer = { allowedPrefixes: ["+49"], maxCallsPerDay: 10 };
    expect(() => limitsWithin({ allowedPrefixes: ["+4930", "+4"] }, issuer)).toThrow('allowedPrefixes contains "+4"');
    expect(() => limitsWithin({ maxCallsPerDay: 11 }, issuer)).toThrow("maxCallsPerDay is 11");
    expect(limitsWithin({}, issuer)).toEqual(issuer);
    expect(limitsWithin({ allowedPrefixes: ["+4930"], maxCallsPerDay: 10 }, issuer).allowedPrefixes).toEqual(["+4930"]);
  });

  fuzz(
    "a number is allowed exactly if it begins with a prefix, and every beginning of a number is a prefix",
    fc.property(
      numbers,
      fc.array(prefixes, { minLength: 1 }),
      fc.integer({ min: 2, max: 16 }),
      (number, list, length) => {
        expect(isAllowed(number, list)).toBe(list.some((prefix) => number.slice(0, prefix.length) === prefix));
        expect(isPrefix(number.slice(0, length))).toBe(true);
      },
    ),
  );

  fuzz(
    "limits within those of an issuer never allow more than the issuer's",
    fc.property(limits, limits, numbers, (requestedLimits, issuerLimits, number) => {
      let innerLimits: ReturnType<typeof limitsWithin>;
      try {
        innerLimits = limitsWithin(requestedLimits, issuerLimits);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
        return;
      }
      if (isAllowed(number, innerLimits.allowedPrefixes))
        expect(isAllowed(number, issuerLimits.allowedPrefixes)).toBe(true);
      expect(innerLimits.maxCallsPerDay ?? Infinity).toBeLessThanOrEqual(issuerLimits.maxCallsPerDay ?? Infinity);
    }),
  );
});
