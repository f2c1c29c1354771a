import type * as v from "valibot";
import { nearest } from "../../../../src/base/nearest.ts";
import { isObject } from "../../../../src/domain/input/input-checks.ts";

/** Maximum number of faults reported. */
export const MAX_FAULTS = 100;

/** Adds a fault with its field. */
export type AddFault = (field: string, detail: string) => void;

/** `tls.cert`, `codecs.1`. */
export function pathOf(issue: v.BaseIssue<unknown>): string {
  return (issue.path ?? []).map(({ key }) => String(key)).join(".");
}

/** Adds a fault for each of the object's keys that is not among these options. */
export function addUnknownKeys(value: unknown, entries: object, prefix: string, add: AddFault): void {
  if (!isObject(value)) return;
  for (const key of Object.keys(value).slice(0, MAX_FAULTS)) {
    if (Object.hasOwn(entries, key)) continue;
    const suggestion = key.length > 40 ? undefined : nearest(key, Object.keys(entries));
    add(
      `${prefix}${key.slice(0, 40)}`,
      suggestion === undefined ? "is an unknown option" : `is an unknown option; did you mean ${suggestion}?`,
    );
  }
}

/** The name of a list item, or `#1` if the first one has no name. */
export function labelOf(item: unknown, index: number): string {
  const name = isObject(item) ? item.name : undefined;
  return typeof name === "string" && name !== "" && name.length <= 40 ? name : `#${index + 1}`;
}
