import * as v from "valibot";
import { didYouMean, nearest } from "../../base/nearest.ts";
import { ownMember } from "../../base/own-member.ts";
import { type Fault, invalidInput, type RefusalCode } from "../refusal.ts";
import { isObject, type Schema } from "./input-checks.ts";

/** Options for checking a body. */
export interface ParseOptions {
  /** Refuses unknown fields. */
  readonly strict: boolean;
  /** Faults that depend on the server's state; they are reported together with those of the body. */
  readonly stateFaults?: readonly Fault[] | undefined;
}

/**
 * The checked body.
 * @throws {Refusal} with all faults
 */
export function parseBody<T>(schema: Schema<T>, body: unknown, { strict, stateFaults = [] }: ParseOptions): T {
  if (!isObject(body))
    throw invalidInput([{ pointer: "", code: "invalid_json", detail: "the body must be a JSON object" }]);
  const result = v.safeParse(schema, body);
  const faults = [...(result.success ? [] : result.issues.map((issue) => faultOf(issue, schema))), ...stateFaults];
  if (strict) addUnknownFields(faults, schema, body, "");
  const [first, ...otherFaults] = faults;
  if (first) throw invalidInput([first, ...otherFaults]);
  return result.output as T;
}

/** Maximum number of reported faults: a body can hold millions of unknown fields. */
const MAX_FAULTS = 100;

/**
 * Adds the fields that the schema does not name; `v.strictObject` would report only the first, and miss "constructor".
 */
function addUnknownFields(faults: Fault[], schema: unknown, value: unknown, pointer: string): void {
  const entries = entriesOf(schema);
  if (!entries || !isObject(value)) return;
  for (const key in value) {
    if (faults.length >= MAX_FAULTS) return;
    const fieldPointer = `${pointer}/${escapePointer(key)}`;
    if (Object.hasOwn(entries, key)) addUnknownFields(faults, entries[key], value[key], fieldPointer);
    else
      faults.push({
        pointer: fieldPointer,
        code: "unknown_field",
        detail: `there is no such field${key.length > MAX_NAME ? "" : didYouMean(key, Object.keys(entries))}`,
      });
  }
}

/** The fields of an object schema; undefined for other schemas. */
function entriesOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  const { wrapped = schema } = (schema ?? {}) as { wrapped?: unknown };
  const { type, entries } = (wrapped ?? {}) as { type?: string; entries?: Readonly<Record<string, unknown>> };
  // The other fields of a loose object are checked elsewhere.
  return type === "loose_object" ? undefined : entries;
}

/** Limits on the length and number of the names that are compared: a body can hold millions. */
const MAX_NAME = 40;
const MAX_COMPARED = 100;

/** The unknown field of the body whose name is most similar to that of the missing field. */
function similarField(issue: v.BaseIssue<unknown>, schema: unknown): string | undefined {
  const path = issue.path ?? [];
  const missingField = path.at(-1);
  if (!missingField || !isObject(missingField.input)) return undefined;
  const entries = path
    .slice(0, -1)
    .reduce((fields, { key }) => entriesOf(fields && ownMember(fields, String(key))), entriesOf(schema));
  const unknownNames: string[] = [];
  for (const name in missingField.input) {
    if (unknownNames.length >= MAX_COMPARED) break;
    if (name.length <= MAX_NAME && !Object.hasOwn(entries ?? {}, name)) unknownNames.push(name);
  }
  return nearest(String(missingField.key), unknownNames);
}

function requiredDetail(issue: v.BaseIssue<unknown>, schema: unknown): string {
  const sentName = similarField(issue, schema);
  if (sentName === undefined) return "this field is required";
  return `this field is required; you sent ${JSON.stringify(sentName)} (did you mean ${String(issue.path?.at(-1)?.key)}?)`;
}

const FAULT = /^([a-z_]+): ([\s\S]*)$/;

function faultOf(issue: v.BaseIssue<unknown>, schema: unknown): Fault {
  const pointer = (issue.path ?? []).map((item) => `/${escapePointer(String(item.key))}`).join("");
  const match = FAULT.exec(issue.message);
  if (match && issue.received !== "undefined")
    return { pointer, code: match[1] as RefusalCode, detail: match[2] as string };
  if (issue.received === "undefined") return { pointer, code: "required", detail: requiredDetail(issue, schema) };
  return { pointer, code: "type_invalid", detail: `must be ${expectedType(issue)}, not ${receivedType(issue)}` };
}

const expectedType = (issue: v.BaseIssue<unknown>): string =>
  ({ string: "a string", Object: "an object", Array: "an array", boolean: "true or false" })[issue.expected ?? ""] ??
  String(issue.expected);

const receivedType = (issue: v.BaseIssue<unknown>): string => {
  const text = issue.received;
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
};

/** A key as a part of a JSON Pointer. */
export function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
