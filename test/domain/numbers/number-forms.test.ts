import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { numberForms } from "../../../src/domain/numbers/number-forms.ts";
import { PHONE_NUMBER } from "../../../src/domain/numbers/phone-number.ts";
import { fuzz } from "../../support/fuzz.ts";

describe("the forms of a number", () => {
  test.each([
    ["+5511987654321", ["+5511987654321", "+551187654321"]],
    ["+551187654321", ["+551187654321", "+5511987654321"]],
    ["+551134567890", ["+551134567890"]], // not a mobile number
    ["+5215512345678", ["+5215512345678", "+525512345678"]],
    ["+525512345678", ["+525512345678", "+5215512345678"]],
    ["+5491123456789", ["+5491123456789", "+541123456789"]],
    ["+541123456789", ["+541123456789", "+5491123456789"]],
    ["+12025550100", ["+12025550100"]],
    ["+4930123456", ["+4930123456"]],
  ])("of %s are %j", (number, forms) => {
    expect(numberForms(number)).toEqual(forms);
  });

  fuzz(
    "are numbers themselves, and each is a form of the others",
    fc.property(
      fc.oneof(fc.stringMatching(/^\+[1-9]\d{6,14}$/), fc.stringMatching(/^\+5[245]\d{10,11}$/)),
      (number) => {
        const forms = numberForms(number);
        expect(forms[0]).toBe(number);
        for (const form of forms) {
          expect(form).toMatch(PHONE_NUMBER);
          expect([...numberForms(form)].sort()).toEqual([...forms].sort());
        }
      },
    ),
  );
});
