import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { phoneNumberOf, spacedNumber } from "../../../adapters/console/app/pages/calls/typed-number.ts";
import { fuzz } from "../../support/fuzz.ts";

describe("a typed phone number", () => {
  it.each([
    ["+12025550100", "+12025550100"],
    [" +1 (202) 555-0100 ", "+12025550100"],
    ["001 202.555.0100", "+12025550100"],
    ["+49\u00a030\u2011901820", "+4930901820"],
    ["030 1234", "030 1234"],
    ["call Ana", "call Ana"],
    ["", ""],
  ])("%j is %j", (typed, number) => {
    expect(phoneNumberOf(typed)).toBe(number);
  });

  it("is shown in groups", () => {
    expect(spacedNumber("+12025550100")).toBe("+1 202 555 0100");
    expect(spacedNumber("+4930901820")).toBe("+4930901820");
  });
});

fuzz(
  "a parsed number parses to itself, even with its display spaces",
  fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\+[1-9]\d{6,14}$/)), (text) => {
    const number = phoneNumberOf(text);
    expect(phoneNumberOf(number)).toBe(number);
    if (/^\+\d+$/.test(number)) expect(phoneNumberOf(spacedNumber(number))).toBe(number);
  }),
);
