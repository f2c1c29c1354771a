import * as v from "valibot";
import { nearest } from "../../../../src/base/nearest.ts";
import { shown } from "../../../../src/base/shown.ts";
import { isPrefix, PREFIX_RULE } from "../../../../src/domain/calls/call-limits.ts";
import { isObject } from "../../../../src/domain/input/input-checks.ts";
import type { TrunkFault } from "./parse-trunks.ts";
import type { Route, RouteTrunk } from "./route-config.ts";
import { type AddFault, addUnknownKeys, labelOf, pathOf } from "./schema-faults.ts";
import { sharedUsers } from "./shared-options.ts";
import type { Trunk } from "./trunk-config.ts";
import { must, name, objectMust, trunkText, wholeNumberBetween } from "./trunk-schema.ts";

const routeTrunkSchema = v.object(
  {
    trunk: trunkText("the name of a trunk", (value) => value !== ""),
    order: v.optional(wholeNumberBetween("a whole number from 0 to 65535", 0, 65_535)),
    weight: v.optional(wholeNumberBetween("a whole number from 0 to 65535", 0, 65_535)),
    prefixes: v.optional(
      v.pipe(
        v.array(trunkText(PREFIX_RULE, isPrefix), must(`a list of prefixes: ${PREFIX_RULE}`)),
        v.check((list) => list.length > 0, "is empty; leave it out for every number"),
      ),
    ),
  },
  objectMust('an object such as {"trunk": "acme"}'),
);

const routeSchema = v.object(
  {
    name: name(),
    trunks: v.pipe(
      v.array(routeTrunkSchema, must('a list such as [{"trunk": "acme"}, {"trunk": "backup"}]')),
      v.check((list) => list.length > 0, "is empty; name at least one trunk"),
    ),
  },
  objectMust("an object with name and trunks"),
);

/** The trunks that routes may use. */
export interface KnownTrunks {
  /** The trunks without a fault. */
  readonly trunks: readonly Trunk[];
  /** The names of all trunks, including those with a fault. */
  readonly names: ReadonlySet<string>;
}

/** Checks routes from a settings file. Never throws. */
export function parseRoutes(
  input: unknown,
  knownTrunks: KnownTrunks,
): { readonly routes: readonly Route[]; readonly faults: readonly TrunkFault[] } {
  if (input === undefined) return { routes: [], faults: [] };
  if (!Array.isArray(input))
    return {
      routes: [],
      faults: [{ trunk: "", field: "routes", detail: `must be a list of routes, not ${shown(input)}` }],
    };
  const faults: TrunkFault[] = [];
  const routes: Route[] = [];
  const names = new Set(input.map(labelOf));
  const routeNames = new Set<string>();
  for (const [index, item] of input.entries()) {
    const route = labelOf(item, index);
    const add: AddFault = (field, detail) => void faults.push({ trunk: "", route, field, detail });
    const result = v.safeParse(routeSchema, item);
    for (const issue of result.issues ?? []) add(pathOf(issue), issue.message);
    addUnknownKeys(item, routeSchema.entries, "", add);
    const entries = isObject(item) && Array.isArray(item.trunks) ? item.trunks : [];
    for (const [position, entry] of entries.entries())
      addUnknownKeys(entry, routeTrunkSchema.entries, `trunks.${position}.`, add);
    if (!result.success) continue;
    if (knownTrunks.names.has(route)) add("name", "is also the name of a trunk; give the route another name");
    if (routeNames.has(route)) add("name", "is the name of two routes; give one of them another name");
    routeNames.add(route);
    addTrunkFaults(result.output, knownTrunks, names, add);
    routes.push(result.output);
  }
  return { routes, faults };
}

function addTrunkFaults({ trunks }: Route, knownTrunks: KnownTrunks, routes: ReadonlySet<string>, add: AddFault): void {
  const usedKeys = new Set<string>();
  for (const [position, entry] of trunks.entries()) {
    const field = `trunks.${position}.trunk`;
    if (!knownTrunks.names.has(entry.trunk))
      add(field, `is ${shown(entry.trunk)}, ${unknownTrunk(entry, knownTrunks, routes)}`);
    for (const prefix of entry.prefixes ?? [""]) {
      const key = `${entry.trunk} ${prefix}`;
      const numbers = prefix === "" ? "every number" : `numbers that begin with ${prefix}`;
      if (usedKeys.has(key)) add(field, `is ${shown(entry.trunk)}, which is already listed for ${numbers}`);
      usedKeys.add(key);
    }
  }
  const routeTrunks = knownTrunks.trunks.filter(({ name }) => trunks.some(({ trunk }) => trunk === name));
  if (routeTrunks.length > 0 && sharedUsers(routeTrunks) === undefined)
    add(
      "trunks",
      `${routeTrunks.map(({ name }) => name).join(", ")} have no user in common; give them the same \`users\``,
    );
}

function unknownTrunk({ trunk }: RouteTrunk, { names }: KnownTrunks, routes: ReadonlySet<string>): string {
  if (routes.has(trunk)) return "but that is a route; a route consists of trunks only";
  const suggestion = trunk.length > 40 ? undefined : nearest(trunk, [...names]);
  return `but no trunk has this name${suggestion === undefined ? "" : `; did you mean ${suggestion}?`}`;
}
