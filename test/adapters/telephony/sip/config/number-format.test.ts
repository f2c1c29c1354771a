import { describe, expect, test } from "vitest";
import { diallingFormat } from "../../../../../adapters/telephony/sip/config/number-format.ts";

describe("a trunk's number format", () => {
  test.each([
    ["e164", "+12025550100", "+12025550100"],
    ["digits", "+12025550100", "12025550100"],
    ["00{digits}", "+12025550100", "0012025550100"],
    ["0{national:49}", "+4930123456", "030123456"],
    ["9{e164}", "+12025550100", "9+12025550100"],
    ["{digits}.carrier", "+12025550100", "12025550100.carrier"],
  ])("%s writes %s as %s", (format, e164, dialledNumber) => {
    expect(diallingFormat(format)?.(e164)).toBe(dialledNumber);
  });

  test("a national template writes only its country's numbers", () => {
    const format = diallingFormat("0{national:49}");
    expect(format?.("+12025550100")).toBeUndefined();
    expect(format?.("+49")).toBeUndefined();
  });

  test.each(["", "national", "{national}", "{national:049}", "{digits}{e164}", "0{national:49}@host", "plain 1"])(
    "%j is not a valid format",
    (format) => {
      expect(diallingFormat(format)).toBeUndefined();
    },
  );
});
