import { randomUUID } from "node:crypto";

export type Json = Record<string, unknown>;

/** A new id, such as `item_…`. */
export const idOf = (prefix: string): string => `${prefix}_${randomUUID().replaceAll("-", "").slice(0, 20)}`;

/** The object in a member; an empty object if the member is anything else. */
export const member = (value: unknown): Json => (typeof value === "object" && value !== null ? (value as Json) : {});

/** Merges changes into a value; null removes a member. */
export function merge(current: Json, change: Json): Json {
  const result = { ...current };
  for (const [name, value] of Object.entries(change)) {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    // A format is replaced as a whole.
    result[name] = isObject && name !== "format" ? merge(member(current[name]), value as Json) : value;
  }
  return result;
}
