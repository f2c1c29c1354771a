import type * as v from "valibot";
import { nearest } from "../../../../src/base/nearest.ts";

/** Nobody reads about more. */
export const MOST_FAULTS = 100;

/** Takes a fault: the field, and what is wrong with it. */
export type AddFault = (field: string, detail: string) => void;

/** `tls.cert`, `codecs.1`. */
export function pathOf(issue: v.BaseIssue<unknown>): string {
  return (issue.path ?? []).map(({ key }) => String(key)).join(".");
}

/** Adds a fault for each key of an object that is none of these options. */
export function addUnknownKeys(value: unknown, entries: object, prefix: string, add: AddFault): void {
  if (!isObject(value)) return;
  for (const key of Object.keys(value).slice(0, MOST_FAULTS)) {
    if (Object.hasOwn(entries, key)) continue;
    const meant = key.length > 40 ? undefined : nearest(key, Object.keys(entries));
    add(`${prefix}${key.slice(0, 40)}`, meant === undefined ? "is no option" : `is no option; did you mean ${meant}?`);
  }
}

/** The name of the n-th item of a list, or `#1` for the first one if it has none. */
export function labelOf(item: unknown, index: number): string {
  const name = isObject(item) ? item.name : undefined;
  return typeof name === "string" && name !== "" && name.length <= 40 ? name : `#${index + 1}`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
