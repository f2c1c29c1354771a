import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  filterOf,
  isFiltered,
  listQuery,
  matchesFilter,
  searchOf,
  targetPhoneIn,
} from "../../../adapters/console/app/pages/calls/call-filter.ts";
import type { ListedCall } from "../../../adapters/console/app/pages/calls/call-rows.ts";
import { fuzz } from "../../support/fuzz.ts";

const CALL: ListedCall = {
  id: "call_1",
  instance_id: "inst_1",
  type: "FIXED_TTS",
  status: "QUEUED",
  target_phone: "+12025550100",
  created_at: new Date(2026, 10, 27, 12).toISOString(),
  started_at: null,
  ended_at: null,
  reference: "order-7",
};

describe("a call filter", () => {
  it("is read from a URL, without invalid parts", () => {
    const filter = filterOf(
      "?status=RINGING,nonsense,QUEUED&type=NOPE&instance=inst_1&number=%2B1+202+555+0100&from=2026-02-31",
    );
    expect(filter).toEqual({ statuses: ["QUEUED", "RINGING"], instanceId: "inst_1", targetPhone: "+12025550100" });
  });

  it("drops numbers that the server would refuse", () => {
    expect(filterOf("?number=12")).toEqual({});
    expect(targetPhoneIn("+1 202 555 0100")).toBe("+12025550100");
    expect(targetPhoneIn("0202 555")).toBeUndefined();
  });

  it("becomes the HTTP query, including whole days", () => {
    const query = listQuery({ statuses: ["FAILED"], from: "2026-11-27", to: "2026-11-28" });
    expect(query).toMatchObject({
      status: ["FAILED"],
      created_after: new Date(new Date(2026, 10, 27).getTime() - 1).toISOString(),
      created_before: new Date(2026, 10, 29).toISOString(),
    });
  });

  it.each([
    ["status", { statuses: ["FAILED"] }, { statuses: ["QUEUED"] }],
    ["type", { type: "DYNAMIC_AGENT" }, { type: "FIXED_TTS" }],
    ["instance", { instanceId: "inst_2" }, { instanceId: "inst_1" }],
    ["reference", { reference: "order" }, { reference: "order-7" }],
    ["number", { targetPhone: "+12025550101" }, { targetPhone: "+12025550100" }],
    ["first day", { from: "2026-11-28" }, { from: "2026-11-27" }],
    ["last day", { to: "2026-11-26" }, { to: "2026-11-27" }],
  ] as const)("leaves out calls by %s", (_, otherFilter, matchingFilter) => {
    expect(matchesFilter(CALL, otherFilter)).toBe(false);
    expect(matchesFilter(CALL, matchingFilter)).toBe(true);
    expect(isFiltered(matchingFilter)).toBe(true);
  });

  it("without fields matches every call", () => {
    expect(isFiltered({})).toBe(false);
    expect(matchesFilter(CALL, {})).toBe(true);
  });
});

fuzz(
  "any URL yields a filter that survives a round trip",
  fc.property(fc.oneof(fc.string(), fc.webQueryParameters()), (search) => {
    const filter = filterOf(search);
    expect(filterOf(searchOf(filter))).toEqual(filter);
    listQuery(filter);
  }),
);
