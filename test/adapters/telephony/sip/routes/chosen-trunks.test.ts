import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RouteTrunk } from "../../../../../adapters/telephony/sip/config/route-config.ts";
import { chosenTrunks, routeRefusal } from "../../../../../adapters/telephony/sip/routes/chosen-trunks.ts";
import { ManualSystem } from "../../../../../src/testing/manual-system.ts";
import { fuzz } from "../../../../support/fuzz.ts";

const NUMBER = "+4930123456";
const PREFIXES = ["+4", "+49", "+4930", "+1", "+12025"];

const routeTrunks = fc
  .array(
    fc.record(
      {
        order: fc.integer({ min: 0, max: 3 }),
        weight: fc.integer({ min: 0, max: 5 }),
        prefixes: fc.uniqueArray(fc.constantFrom(...PREFIXES), { minLength: 1 }),
      },
      { requiredKeys: [] },
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((options) => options.map((trunkOptions, i): RouteTrunk => ({ ...trunkOptions, trunk: `trunk-${i}` })));

fuzz(
  "the trunks with the longest matching prefix are tried once each, lowest order first",
  fc.property(routeTrunks, fc.integer(), (trunks, seed) => {
    const trunkOrder = chosenTrunks({ name: "world", trunks }, NUMBER, new ManualSystem({ seed }));
    const matchLength = ({ prefixes = [""] }: RouteTrunk): number =>
      Math.max(-1, ...prefixes.flatMap((prefix) => (NUMBER.startsWith(prefix) ? [prefix.length] : [])));
    const maxMatch = Math.max(...trunks.map(matchLength));
    const expectedTrunks = trunks.filter((trunk) => maxMatch >= 0 && matchLength(trunk) === maxMatch);
    expect([...trunkOrder].sort()).toEqual(expectedTrunks.map(({ trunk }) => trunk).sort());
    const orders = trunkOrder.map((name) => {
      const i = trunks.findIndex(({ trunk }) => trunk === name);
      return trunks[i]!.order ?? i + 1;
    });
    expect(orders).toEqual([...orders].sort((a, b) => a - b));
  }),
);

describe("a route's trunks", () => {
  const namesOf = (trunks: readonly RouteTrunk[], system = new ManualSystem()): string[] =>
    chosenTrunks({ name: "world", trunks }, NUMBER, system);

  test("are tried in list order by default", () => {
    expect(namesOf([{ trunk: "b" }, { trunk: "a" }, { trunk: "c", order: 0 }])).toEqual(["c", "b", "a"]);
  });

  test("share calls by weight if their order is equal", () => {
    const system = new ManualSystem();
    const trunks = [
      { trunk: "most", order: 1, weight: 9 },
      { trunk: "some", order: 1 },
    ];
    const firstTrunks = Array.from({ length: 2_000 }, () => namesOf(trunks, system)[0]);
    const share = firstTrunks.filter((name) => name === "most").length / firstTrunks.length;
    expect(share).toBeGreaterThan(0.8); // a number from 0 to 10 is drawn, and 10 of the 11 select this trunk
    expect(share).toBeLessThan(0.97);
  });

  test("refuse a number only if all of them refuse it", async () => {
    const route = {
      name: "world",
      trunks: [
        { trunk: "a", prefixes: ["+49"] },
        { trunk: "b", prefixes: ["+49"] },
        { trunk: "c", prefixes: ["+1"] },
      ],
    };
    const refusals: Record<string, string | undefined> = { a: "a does not", b: undefined, c: "c does not" };
    const refusal = (number: string) => routeRefusal(route, number, async (trunk) => refusals[trunk]);
    expect(await refusal(NUMBER)).toBeUndefined();
    refusals.b = "b does not";
    expect(await refusal(NUMBER)).toBe("a does not; b does not");
    expect(await refusal("+12025550100")).toBe("c does not");
    expect(await refusal("+4412345678")).toBe("route world has no trunk for +4412345678");
  });
});
