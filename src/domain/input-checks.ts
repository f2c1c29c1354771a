import type { RefusalCode } from "./refusal.ts";

/** JSON Schema (2020-12) of schemas and checks that JSON Schema cannot be derived from. */
export const JSON_SCHEMAS: WeakMap<object, Record<string, unknown>> = new WeakMap();

/** The schema, with its JSON Schema by hand. */
export function describedAs<T extends object>(schema: T, json: Record<string, unknown>): T {
  JSON_SCHEMAS.set(schema, json);
  return schema;
}

/** The message of an issue: the fault's code in front of its sentence. */
export const says = (code: RefusalCode, sentence: string): string => `${code}: ${sentence}`;

export const PHONE_NUMBER: RegExp = /^\+[1-9]\d{6,14}$/;
export const PHONE_RULE = "must be an E.164 number: + and 7 to 15 digits, such as +12025550100";

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
