import * as v from "valibot";
import { isObject, type Schema } from "./input-checks.ts";
import { type Fault, invalidInput, type RefusalCode } from "./refusal.ts";

/** How a body is checked. */
export interface ParseOptions {
  /** Refuses unknown fields. */
  readonly strict: boolean;
  /** Faults that only the server's state shows; they are reported together with those of the body. */
  readonly found?: readonly Fault[] | undefined;
}

/**
 * The checked body.
 * @throws {Refusal} with a fault for each thing wrong
 */
export function parseBody<T>(schema: Schema<T>, body: unknown, { strict, found = [] }: ParseOptions): T {
  if (!isObject(body))
    throw invalidInput([{ pointer: "", code: "invalid_json", detail: "the body must be a JSON object" }]);
  const result = v.safeParse(schema, body);
  const faults = [...(result.success ? [] : result.issues.map(faultOf)), ...found];
  if (strict) addUnknownFields(faults, schema, body, "");
  const [first, ...rest] = faults;
  if (first) throw invalidInput([first, ...rest]);
  return result.output as T;
}

/** Limit of reported faults: a body can hold millions of unknown fields. */
const MOST_FAULTS = 100;

/** Adds the fields that the schema does not name; `v.strictObject` would report only the first, and miss "constructor". */
function addUnknownFields(faults: Fault[], schema: unknown, value: unknown, pointer: string): void {
  const { wrapped = schema } = schema as { wrapped?: unknown };
  const { entries } = wrapped as { entries?: Record<string, unknown> };
  if (!entries || !isObject(value)) return;
  for (const key in value) {
    if (faults.length >= MOST_FAULTS) return;
    const inside = `${pointer}/${escapePointer(key)}`;
    if (Object.hasOwn(entries, key)) addUnknownFields(faults, entries[key], value[key], inside);
    else faults.push({ pointer: inside, code: "unknown_field", detail: "there is no such field" });
  }
}

const FAULT = /^([a-z_]+): ([\s\S]*)$/;

function faultOf(issue: v.BaseIssue<unknown>): Fault {
  const pointer = (issue.path ?? []).map((item) => `/${escapePointer(String(item.key))}`).join("");
  const own = FAULT.exec(issue.message);
  if (own && issue.received !== "undefined") return { pointer, code: own[1] as RefusalCode, detail: own[2] as string };
  if (issue.received === "undefined") return { pointer, code: "required", detail: "this field is required" };
  return { pointer, code: "type_invalid", detail: `must be ${expected(issue)}, not ${received(issue)}` };
}

const expected = (issue: v.BaseIssue<unknown>): string =>
  ({ string: "a string", Object: "an object", Array: "an array", boolean: "true or false" })[issue.expected ?? ""] ??
  String(issue.expected);

const received = (issue: v.BaseIssue<unknown>): string => {
  const text = issue.received;
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
};

const escapePointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
