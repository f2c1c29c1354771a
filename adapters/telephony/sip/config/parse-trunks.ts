import * as v from "valibot";
import { nearest } from "../../../../src/domain/nearest.ts";
import { shown } from "../../../../src/domain/shown.ts";
import type { Trunk } from "./trunk.ts";
import { trunkSchema } from "./trunk-schema.ts";

/** Nobody reads about more. */
const MOST_FAULTS = 100;

/** One thing wrong with a trunk. */
export interface TrunkFault {
  /** The trunk's name, or `#1` for the first one where it has none; empty where it is no list of trunks at all. */
  readonly trunk: string;
  /** `codecs.1`, `tls.cert`; empty for the trunk as a whole. */
  readonly field: string;
  /** What is wrong and how to put it right; never shows a password or a key. */
  readonly detail: string;
}

/** Trunks that can be used, or everything that is wrong with them. */
export type ParsedTrunks =
  | { readonly trunks: readonly Trunk[]; readonly faults?: undefined }
  | { readonly faults: readonly TrunkFault[]; readonly trunks?: undefined };

/** Checks trunks as they come from a settings file: a list, or an object with the list as its `trunks`. Never throws. */
export function parseTrunks(input: unknown): ParsedTrunks {
  const list = isObject(input) && "trunks" in input ? input.trunks : input;
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
    addUnknownKeys(item, add);
    if (!result.success) continue;
    addContradictions(result.output, add);
    if (names.has(result.output.name)) add("name", `is the name of two trunks; give one of them another name`);
    names.add(result.output.name);
    trunks.push(result.output);
  }
  return faults.length === 0 ? { trunks } : { faults: faults.slice(0, MOST_FAULTS) };
}

/** A fault as a sentence: `trunk acme: codecs.1 is "G729", but must be PCMU, PCMA or opus`. */
export function faultText({ trunk, field, detail }: TrunkFault): string {
  const where = trunk === "" ? "the SIP trunks" : `trunk ${trunk}:`;
  return [where, field, detail].filter((part) => part !== "").join(" ");
}

/** What lies between two fields. */
function addContradictions(trunk: Trunk, add: (field: string, detail: string) => void): void {
  const { register, user, authUser, password, tls, listen } = trunk;
  if (register === true && user === undefined)
    add("user", "is missing; a trunk that registers needs its account's user");
  if (password !== undefined && user === undefined && authUser === undefined)
    add("user", "is missing; a password needs the user that it belongs to (`user` or `authUser`)");
  if (tls?.cert !== undefined && tls.key === undefined) add("tls.key", "is missing; a certificate needs its key");
  if (tls?.key !== undefined && tls.cert === undefined) add("tls.cert", "is missing; a key needs its certificate");
  if (listen?.transport === "tls" && tls?.cert === undefined)
    add("tls.cert", "is missing; a TLS listener needs a certificate and its key");
}

function addUnknownKeys(item: unknown, add: (field: string, detail: string) => void): void {
  if (!isObject(item)) return;
  const { tls, listen } = trunkSchema.entries;
  unknownKeys(item, trunkSchema.entries, "", add);
  unknownKeys(item.tls, tls.wrapped.entries, "tls.", add);
  unknownKeys(item.listen, listen.wrapped.entries, "listen.", add);
}

function unknownKeys(
  value: unknown,
  entries: object,
  prefix: string,
  add: (field: string, detail: string) => void,
): void {
  if (!isObject(value)) return;
  for (const key of Object.keys(value).slice(0, MOST_FAULTS)) {
    if (Object.hasOwn(entries, key)) continue;
    const meant = key.length > 40 ? undefined : nearest(key, Object.keys(entries));
    add(`${prefix}${key.slice(0, 40)}`, meant === undefined ? "is no option" : `is no option; did you mean ${meant}?`);
  }
}

function labelOf(item: unknown, index: number): string {
  const name = isObject(item) ? item.name : undefined;
  return typeof name === "string" && name !== "" && name.length <= 40 ? name : `#${index + 1}`;
}

/** `tls.cert`, `codecs.1`. */
function pathOf(issue: v.BaseIssue<unknown>): string {
  return (issue.path ?? []).map(({ key }) => String(key)).join(".");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
