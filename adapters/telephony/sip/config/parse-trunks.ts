import * as v from "valibot";
import { shown } from "../../../../src/base/shown.ts";
import { isObject } from "../../../../src/domain/input/input-checks.ts";
import { parseRoutes } from "./parse-routes.ts";
import type { Route } from "./route-config.ts";
import { addUnknownKeys, labelOf, MAX_FAULTS, pathOf } from "./schema-faults.ts";
import type { Trunk } from "./trunk-config.ts";
import { trunkSchema } from "./trunk-schema.ts";

/** A fault of a trunk or a route. */
export interface TrunkFault {
  /** The trunk's name, or `#1` if the first one has no name; empty for a route, and if the input is not a list of trunks. */
  readonly trunk: string;
  /** The route's name, or `#1` if the first one has no name; left out for a trunk. */
  readonly route?: string | undefined;
  /** `codecs.1`, `tls.cert`; empty for the trunk as a whole. */
  readonly field: string;
  /** Fault and its fix; never contains a password or a key. */
  readonly detail: string;
}

/** Valid trunks and routes, or all their faults. */
export type ParsedTrunks =
  | { readonly trunks: readonly Trunk[]; readonly routes: readonly Route[]; readonly faults?: undefined }
  | { readonly faults: readonly TrunkFault[]; readonly trunks?: undefined; readonly routes?: undefined };

/**
 * Checks the trunks in a settings file: a list, or an object with the list as `trunks` and optional `routes` over them.
 * Never throws.
 */
export function parseTrunks(input: unknown): ParsedTrunks {
  const settings = isObject(input) && "trunks" in input ? input : { trunks: input };
  const list = settings.trunks;
  if (!Array.isArray(list))
    return { faults: [{ trunk: "", field: "", detail: `must be a list of trunks, not ${shown(list)}` }] };
  const faults: TrunkFault[] = [];
  const trunks: Trunk[] = [];
  const names = new Set<string>();
  for (const [index, item] of list.entries()) {
    const trunk = labelOf(item, index);
    const add = (field: string, detail: string): void => void faults.push({ trunk, field, detail });
    const result = v.safeParse(trunkSchema, item);
    for (const issue of result.issues ?? []) add(pathOf(issue), issue.message);
    addUnknownOptions(item, add);
    if (!result.success) continue;
    addContradictions(result.output, add);
    if (names.has(result.output.name)) add("name", "is the name of two trunks; give one of them another name");
    names.add(result.output.name);
    trunks.push(result.output);
  }
  const addToAll = (field: string, detail: string): void => void faults.push({ trunk: "", field, detail });
  addUnknownKeys(settings, { trunks, routes: settings.routes }, "", addToAll);
  const parsedRoutes = parseRoutes(settings.routes, { trunks, names: new Set(list.map(labelOf)) });
  faults.push(...parsedRoutes.faults);
  return faults.length === 0 ? { trunks, routes: parsedRoutes.routes } : { faults: faults.slice(0, MAX_FAULTS) };
}

/** A fault as a sentence: `trunk acme: codecs.1 is "G729", but must be PCMU, PCMA, G722 or opus`. */
export function faultText({ trunk, route, field, detail }: TrunkFault): string {
  const allTrunks = field === "" ? "the SIP trunks" : "the SIP trunks:";
  const subject = route !== undefined ? `route ${route}:` : trunk === "" ? allTrunks : `trunk ${trunk}:`;
  return [subject, field, detail].filter((part) => part !== "").join(" ");
}

/** Adds faults that involve two fields. */
function addContradictions(trunk: Trunk, add: (field: string, detail: string) => void): void {
  const { register, user, authUser, password, tls, listen } = trunk;
  if (register === true && user === undefined)
    add("user", "is missing; a trunk that registers needs its account's user");
  if (password !== undefined && user === undefined && authUser === undefined)
    add("user", "is missing; a password needs its user (`user` or `authUser`)");
  if (tls?.cert !== undefined && tls.key === undefined) add("tls.key", "is missing; a certificate needs its key");
  if (tls?.key !== undefined && tls.cert === undefined) add("tls.cert", "is missing; a key needs its certificate");
  if (listen?.transport === "tls" && tls?.cert === undefined)
    add("tls.cert", "is missing; a TLS listener needs a certificate and its key");
}

function addUnknownOptions(item: unknown, add: (field: string, detail: string) => void): void {
  if (!isObject(item)) return;
  const { tls, listen } = trunkSchema.entries;
  addUnknownKeys(item, trunkSchema.entries, "", add);
  addUnknownKeys(item.tls, tls.wrapped.entries, "tls.", add);
  addUnknownKeys(item.listen, listen.wrapped.entries, "listen.", add);
}
