import { expect, test } from "vitest";
import { sharedCallerIds } from "../../../../../adapters/telephony/sip/config/shared-options.ts";
import type { CallerIdRule } from "../../../../../src/domain/numbers/caller-id.ts";

test.each<[string, (CallerIdRule | undefined)[], CallerIdRule | undefined]>([
  ["are the ids of a single trunk", [["+14155550101"]], ["+14155550101"]],
  ["are the ids that each trunk names", [["+14155550101", "+14155550102"], ["+14155550102"]], ["+14155550102"]],
  [
    "are the narrower ids of two overlapping lists",
    [
      ["+1415*", "+4930123456"],
      ["+1415555*", "+49*"],
    ],
    ["+4930123456", "+1415555*"],
  ],
  ["are the list if the other trunks allow any", ["*", ["+1415*"], "*"], ["+1415*"]],
  ["are any if all trunks allow any", ["*", "*"], "*"],
  ["are none if nothing overlaps", [["+14155550101"], ["+1416*"]], []],
  ["cannot be chosen if one trunk leaves no choice", ["*", undefined], undefined],
])("the shared caller IDs of trunks %s", (_, rules, expectedIds) => {
  expect(sharedCallerIds(rules.map((callerIds) => ({ callerIds })))).toEqual(expectedIds);
});
