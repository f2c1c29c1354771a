import * as v from "valibot";
import type { RefusalCode } from "../refusal.ts";
import { isVisible } from "./visible-text.ts";

/** The schema of a request body, or of a part of one. */
export type Schema<T> = v.GenericSchema<unknown, T>;

/** JSON Schemas (2020-12) of schemas and checks that cannot be converted. */
export const JSON_SCHEMAS: WeakMap<object, Record<string, unknown>> = new WeakMap();

/** The schema, with its JSON Schema written by hand. */
export function describedAs<T extends object>(schema: T, json: Record<string, unknown>): T {
  JSON_SCHEMAS.set(schema, json);
  return schema;
}

/** The message of an issue: the fault's code before its sentence. */
export const issueText = (code: RefusalCode, sentence: string): string => `${code}: ${sentence}`;

/** Checks the length of a text in characters; `what` is the subject of the fault. */
export function characters(min: number, max: number, what: string): v.RawCheckAction<string> {
  return describedAs(
    v.rawCheck<string>(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const length = dataset.value.length > 4 * max ? dataset.value.length : codePoints(dataset.value);
      if (length < min) addIssue({ message: issueText("too_short", `${what} must not be empty`) });
      if (length > max)
        addIssue({ message: issueText("too_long", `${what} has ${length} characters, at most ${max} are allowed`) });
    }),
    { minLength: min, maxLength: max },
  );
}

/** Refuses the characters that databases cannot store; `what` is the subject of the fault. */
export function storableText(what: string): v.CheckAction<string, string> {
  return v.check(
    (text) => !/[\0\p{Cs}]/u.test(text),
    issueText("value_invalid", `${what} must not contain the character U+0000, nor half of a surrogate pair`),
  );
}

/** Refuses a text that consists of invisible characters; an empty one passes. `what` is the subject of the fault. */
export function visibleText(what: string): v.CheckAction<string, string> {
  return v.check(
    (text) => text === "" || isVisible(text),
    issueText("value_invalid", `${what} consists of invisible characters; add one that people can see`),
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Counts as JSON Schema does, in which an emoji is one character and not two. */
function codePoints(text: string): number {
  let pairs = 0;
  for (let at = 1; at < text.length; at++)
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) pairs++;
  return text.length - pairs;
}
