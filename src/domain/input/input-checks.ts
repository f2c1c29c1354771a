import * as v from "valibot";
import type { RefusalCode } from "../refusal.ts";
import { isVisible } from "./visible-text.ts";

/** The schema of a request body, or of a part of one. */
export type Schema<T> = v.GenericSchema<unknown, T>;

/** JSON Schemas (2020-12) of schemas and checks that cannot be converted. */
export const JSON_SCHEMAS: WeakMap<object, Record<string, unknown>> = new WeakMap();

/** The schema, with its JSON Schema written by hand. */
export function withJsonSchema<T extends object>(schema: T, json: Record<string, unknown>): T {
  JSON_SCHEMAS.set(schema, json);
  return schema;
}

/** The schema of a time in whole milliseconds. */
export function wholeMs(min: number, max: number, description: string): Schema<number> {
  const fault = issueText("value_invalid", `must be a whole number from ${min} to ${max} (ms)`);
  const schema = v.pipe(
    v.number(fault),
    v.check((ms) => Number.isInteger(ms) && ms >= min && ms <= max, fault),
  );
  return withJsonSchema(schema, { type: "integer", minimum: min, maximum: max, description });
}

/** The message of an issue: the fault's code before its sentence. */
export const issueText = (code: RefusalCode, sentence: string): string => `${code}: ${sentence}`;

/** The path of an issue in a valibot check, from its keys: pointers consist only of these. */
export function issuePath(...keys: readonly (string | number)[]): [v.IssuePathItem, ...v.IssuePathItem[]] {
  const items = keys.map((key) => ({ type: "unknown", origin: "value", input: undefined, key, value: undefined }));
  return items as unknown as [v.IssuePathItem, ...v.IssuePathItem[]];
}

/** The fault of a JSON object by its type, depth or size; undefined if it has none. */
export function jsonObjectFault(value: unknown, maxLevels: number, maxBytes: number): string | undefined {
  if (!isObject(value)) return issueText("type_invalid", "must be an object");
  if (isDeeperThan(value, maxLevels)) return issueText("too_long", `is nested deeper than ${maxLevels} levels`);
  const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
  if (bytes <= maxBytes) return undefined;
  return issueText("too_long", `is ${bytes} bytes as JSON, at most ${maxBytes} are allowed`);
}

/** True if a JSON value is nested deeper than this many levels. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/** Checks the length of a text in characters; `subject` begins the sentence of the fault. */
export function characters(min: number, max: number, subject: string): v.RawCheckAction<string> {
  return withJsonSchema(
    v.rawCheck<string>(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const length = dataset.value.length > 4 * max ? dataset.value.length : codePoints(dataset.value);
      if (length < min) addIssue({ message: issueText("too_short", `${subject} must not be empty`) });
      if (length > max)
        addIssue({ message: issueText("too_long", `${subject} has ${length} characters, at most ${max} are allowed`) });
    }),
    { minLength: min, maxLength: max },
  );
}

/** Refuses the characters that databases cannot store; `subject` begins the sentence of the fault. */
export function storableText(subject: string): v.CheckAction<string, string> {
  return v.check(
    (text) => !/[\0\p{Cs}]/u.test(text),
    issueText("value_invalid", `${subject} must not contain the character U+0000 or half of a surrogate pair`),
  );
}

/**
 * Refuses text that consists of invisible characters; empty text passes. `subject` begins the sentence of the fault.
 */
export function visibleText(subject: string): v.CheckAction<string, string> {
  return v.check(
    (text) => text === "" || isVisible(text),
    issueText("value_invalid", `${subject} consists of invisible characters; add a visible one`),
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Counts code points, as JSON Schema does: an emoji is one character, not two. */
function codePoints(text: string): number {
  let pairs = 0;
  for (let at = 1; at < text.length; at++)
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) pairs++;
  return text.length - pairs;
}
