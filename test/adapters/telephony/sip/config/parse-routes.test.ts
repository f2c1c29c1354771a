import { describe, expect, test } from "vitest";
import { faultText, parseTrunks } from "../../../../../adapters/telephony/sip/config/parse-trunks.ts";
import { sharedUsers } from "../../../../../adapters/telephony/sip/config/shared-options.ts";
import { sip } from "../../../../../adapters/telephony/sip/index.ts";

const trunks = ["acme", "backup"].map((name) => ({ name, server: `sip:${name}.example` }));
const WORLD = { name: "world", trunks: [{ trunk: "acme" }, { trunk: "backup" }] };

/** Faults of these routes over two trunks. */
const faultsOf = (routes: unknown, trunkInput: unknown = trunks): string[] =>
  (parseTrunks({ trunks: trunkInput, routes }).faults ?? []).map(faultText);

describe("parseRoutes", () => {
  test("a route becomes a network before the trunks", () => {
    const detailedRoute = {
      name: "cheap",
      trunks: [{ trunk: "backup", order: 0, weight: 10, prefixes: ["+49", "+43"] }],
    };
    expect(parseTrunks({ trunks, routes: [WORLD, detailedRoute] })).toEqual({ trunks, routes: [WORLD, detailedRoute] });
    expect(parseTrunks(trunks)).toEqual({ trunks, routes: [] });
    const names = sip({ trunks, routes: [WORLD, detailedRoute] }).map(({ name }) => name);
    expect(names).toEqual(["sip/world", "sip/cheap", "sip/acme", "sip/backup"]);
  });

  test.each([
    ["a route without trunks", [{ name: "world", trunks: [] }], "trunks is empty; name at least one trunk"],
    ["no list of trunks", [{ name: "world", trunks: "acme" }], /^trunks is "acme", but must be a list such as /],
    ["an invalid name", [{ ...WORLD, name: "The World" }], /^name is "The World", but must be 1 to 40 lower-case/],
    ["an unknown option", [{ ...WORLD, prefixes: ["+49"] }], "prefixes is an unknown option"],
    [
      "an unknown option of a trunk",
      [{ name: "world", trunks: [{ trunk: "acme", wieght: 1 }] }],
      "trunks.0.wieght is an unknown option; did you mean weight?",
    ],
    [
      "an unknown trunk",
      [{ name: "world", trunks: [{ trunk: "acne" }] }],
      'trunks.0.trunk is "acne", but no trunk has this name; did you mean acme?',
    ],
    [
      "a route as its own trunk",
      [{ name: "world", trunks: [{ trunk: "world" }] }],
      'trunks.0.trunk is "world", but that is a route; a route consists of trunks only',
    ],
    [
      "a trunk twice",
      [{ name: "world", trunks: [{ trunk: "acme" }, { trunk: "acme", order: 7 }] }],
      'trunks.1.trunk is "acme", which is already listed for every number',
    ],
    [
      "a trunk twice for a prefix",
      [{ name: "world", trunks: ["+49", "+43", "+49"].map((prefix) => ({ trunk: "acme", prefixes: [prefix] })) }],
      'trunks.2.trunk is "acme", which is already listed for numbers that begin with +49',
    ],
    ["an invalid prefix", [{ name: "world", trunks: [{ trunk: "acme", prefixes: ["49"] }] }], /prefixes\.0 is "49"/],
    ["no prefix", [{ name: "world", trunks: [{ trunk: "acme", prefixes: [] }] }], /prefixes is empty/],
    [
      "a broken order",
      [{ name: "world", trunks: [{ trunk: "acme", order: -1 }] }],
      /^trunks\.0\.order is -1, but must/,
    ],
    [
      "a broken weight",
      [{ name: "world", trunks: [{ trunk: "acme", weight: 0.5 }] }],
      /^trunks\.0\.weight is 0\.5, but/,
    ],
    ["two routes with one name", [WORLD, WORLD], "name is the name of two routes; give one of them another name"],
  ])("reports the fault: %s", (_, routes, fault) => {
    expect(faultsOf(routes)).toEqual([expect.stringMatching(/^route (world|The World): /)]);
    const [detail] = faultsOf(routes).map((text) => text.replace(/^route [^:]*: /, ""));
    expect(detail).toEqual(typeof fault === "string" ? fault : expect.stringMatching(fault));
  });

  test("a trunk's name, and routes other than a list, are reported", () => {
    expect(faultsOf([{ ...WORLD, name: "acme" }])).toEqual([
      "route acme: name is also the name of a trunk; give the route another name",
    ]);
    expect(faultsOf("world")).toEqual(['the SIP trunks: routes must be a list of routes, not "world"']);
    expect((parseTrunks({ trunks, route: [WORLD] }).faults ?? []).map(faultText)).toEqual([
      "the SIP trunks: route is an unknown option; did you mean routes?",
    ]);
  });

  test("a faulty trunk is not also reported as unknown", () => {
    expect(faultsOf([WORLD], [trunks[0], { name: "backup", server: "http://backup" }])).toEqual([
      expect.stringMatching(/^trunk backup: server is /),
    ]);
  });

  test("a route needs a user who may use all its trunks", () => {
    const users = (...lists: ("*" | readonly string[] | undefined)[]) =>
      sharedUsers(lists.map((usersOfTrunk) => ({ users: usersOfTrunk })));
    expect(users("*", "*")).toBe("*");
    expect(users(undefined, "*")).toBe("first");
    expect(users(["ada", "bob"], "*", ["bob", "cyd"])).toEqual(["bob"]);
    expect(users(["ada"], ["bob"])).toBeUndefined();
    expect(users(["ada"], undefined)).toBeUndefined();
    expect(
      faultsOf(
        [WORLD],
        [
          { ...trunks[0], users: ["ada"] },
          { ...trunks[1], users: ["bob"] },
        ],
      ),
    ).toEqual(["route world: trunks acme, backup have no user in common; give them the same `users`"]);
  });
});
