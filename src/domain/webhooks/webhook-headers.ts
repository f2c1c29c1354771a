import * as v from "valibot";
import { isObject, issueText, type Schema, withJsonSchema } from "../input/input-checks.ts";

/** Maximum number of headers of a webhook. */
export const MAX_WEBHOOK_HEADERS = 10;
/** Maximum length of the names and values of all headers of a webhook, bytes. */
export const MAX_WEBHOOK_HEADER_BYTES: number = 4 * 1024;

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Printable ASCII, with spaces inside only: every server reads it the same way. */
const VALUE = /^[!-~](?:[ -~]*[!-~])?$/;
/** Headers that Ringport or the connection sets, or that a proxy consumes. */
const PROTECTED_NAMES: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);
const PROTECTED_PREFIXES = ["proxy-", "webhook-"];

/**
 * The headers that a webhook sends with every message, by lower-case name. Their values are secrets, so no fault
 * contains one.
 */
export type WebhookHeaders = Readonly<Record<string, string>>;

/** A schema of headers by name, in any case, with a fault for each that is refused. */
export function webhookHeadersSchema(description: string): Schema<WebhookHeaders | null> {
  const schema = v.pipe(
    v.any(),
    // v.record would silently drop keys such as "constructor".
    v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
      if (value === null) return;
      if (!isObject(value)) return addIssue({ message: issueText("type_invalid", "must be an object, or null") });
      const names = Object.keys(value);
      if (names.length > MAX_WEBHOOK_HEADERS) {
        const countFault = `has ${names.length} headers, at most ${MAX_WEBHOOK_HEADERS} are allowed`;
        return addIssue({ message: issueText("too_long", countFault) });
      }
      const bytes = names.reduce((sum, name) => sum + name.length + lengthOf(value[name]), 0);
      if (bytes > MAX_WEBHOOK_HEADER_BYTES) {
        const sizeFault = `is ${bytes} bytes long, at most ${MAX_WEBHOOK_HEADER_BYTES} are allowed`;
        return addIssue({ message: issueText("too_long", sizeFault) });
      }
      const usedNames = new Set<string>();
      for (const name of names) {
        const fault = headerFault(name, value[name], usedNames);
        const pathItem = { type: "object", origin: "value", input: value, key: name, value: value[name] } as const;
        if (fault) addIssue({ message: issueText("value_invalid", fault), path: [pathItem] });
        usedNames.add(name.toLowerCase());
      }
    }),
    v.transform((value) => value && Object.fromEntries(Object.entries(value).map(lowerCaseEntry))),
  );
  return withJsonSchema(schema, {
    description,
    oneOf: [
      {
        type: "object",
        additionalProperties: { type: "string" },
        maxProperties: MAX_WEBHOOK_HEADERS,
      },
      { type: "null" },
    ],
    examples: [{ Authorization: "Bearer …" }],
  }) as Schema<WebhookHeaders | null>;
}

function headerFault(name: string, value: unknown, usedNames: ReadonlySet<string>): string | undefined {
  const lowerName = name.toLowerCase();
  if (!TOKEN.test(name)) return "is not a valid header name: use letters, digits and hyphens, such as X-Api-Key";
  if (PROTECTED_NAMES.has(lowerName) || PROTECTED_PREFIXES.some((prefix) => lowerName.startsWith(prefix)))
    return `the header ${lowerName} is set by Ringport or by the connection; use another name`;
  if (usedNames.has(lowerName)) return `the header ${lowerName} is set twice: names ignore case`;
  if (typeof value !== "string" || !VALUE.test(value))
    return "its value must be a string of printable ASCII characters, without line breaks, and not begin or end with a space";
  return undefined;
}

function lowerCaseEntry([name, value]: [string, unknown]): [string, unknown] {
  return [name.toLowerCase(), value];
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? value.length : 0;
}
