import { describe, expect, it } from "vitest";
import enCalls from "../../../adapters/console/app/dictionary/en/calls.ts";
import en from "../../../adapters/console/app/dictionary/en/new-call.ts";
import pt from "../../../adapters/console/app/dictionary/pt/new-call.ts";
import { NUMBER_PLAN } from "../../../adapters/telephony/simulator/number-plan.ts";
import { COMPLETED_REASONS, FAILED_REASONS } from "../../../src/domain/calls/outcome.ts";

describe("the console's texts", () => {
  it.each([en, pt])("describe every number of the simulated network", ({ plan }) => {
    expect(Object.keys(plan)).toEqual([...NUMBER_PLAN.keys()]);
  });

  it("have a word for every end reason of a call", () => {
    expect(Object.keys(enCalls.outcomes).sort()).toEqual([...COMPLETED_REASONS, ...FAILED_REASONS].sort());
  });
});
