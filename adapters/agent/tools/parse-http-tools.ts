import * as v from "valibot";
import type { HttpToolOptions } from "../../../src/options.ts";
import { urlTemplate } from "./url-template.ts";

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** Visible ASCII, spaces and tabs, which every server accepts. */
const HEADER_VALUE = /^[ -~\t]{0,8000}$/;
/** Headers that the HTTP client sets itself. */
const RESERVED_HEADERS =
  /^(host|content-length|content-type|transfer-encoding|connection|accept-encoding|expect|upgrade|te)$/i;

// No message quotes a value: it may be a secret.
const Headers = v.record(
  v.pipe(
    v.string(),
    v.regex(HEADER_NAME, "must have valid header names"),
    v.check(
      (name) => !RESERVED_HEADERS.test(name),
      "must not contain Host, Content-Type or any other header that Ringport sets",
    ),
  ),
  v.pipe(v.string("must have strings as values"), v.regex(HEADER_VALUE, "must have only ASCII characters in values")),
  'must be an object, such as {"authorization":"Bearer ..."}',
);

const Tool = v.strictObject(
  {
    name: v.pipe(
      v.string("must be a string"),
      v.regex(/^[\w-]{1,64}$/, "must have 1 to 64 characters: A-Z a-z 0-9 _ -"),
    ),
    description: v.pipe(
      v.string("must be a string: the model uses it to choose a tool"),
      v.trim(),
      v.minLength(1, "must not be empty: the model uses it to choose a tool"),
      v.maxLength(2_000, "must have at most 2000 characters"),
    ),
    parameters: v.pipe(
      v.custom<Readonly<Record<string, unknown>>>(isRecord, "must be a JSON Schema, an object"),
      v.check((schema) => schema.type === "object", 'must have "type": "object"'),
      v.check(patternsCompile, "must have only valid regular expressions as patterns"),
    ),
    url: v.pipe(
      v.string("must be a string"),
      v.check(
        (url) => url.length <= 2_000 && urlTemplate(url) !== undefined,
        "must look like https://api.example.com/orders/{id}: placeholders only in path and query, no user, no fragment, other characters percent-encoded",
      ),
    ),
    method: v.optional(
      v.picklist(["GET", "POST", "PUT", "PATCH", "DELETE"], "must be GET, POST, PUT, PATCH or DELETE"),
    ),
    headers: v.optional(Headers),
    timeoutMs: v.optional(
      v.custom<number>((ms) => typeof ms === "number" && ms >= 1 && ms <= 60_000, "must be from 1 to 60000"),
    ),
  },
  ({ expected }) => (expected === "never" ? "is unknown" : expected === "Object" ? "must be an object" : "is missing"),
);

/**
 * Parses the configured tools and lists every fault with its field, but never with its value, which may be a secret.
 * @param allowPrivate true to allow http too
 */
export function parseHttpTools(
  value: unknown,
  allowPrivate: boolean,
): { readonly tools: readonly HttpToolOptions[]; readonly faults: readonly string[] } {
  if (!Array.isArray(value)) return { tools: [], faults: ["they must be a list"] };
  if (value.length > 64) return { tools: [], faults: [`there are ${value.length} tools, but at most 64 are allowed`] };
  const tools: HttpToolOptions[] = [];
  const faults: string[] = [];
  for (const [index, item] of value.entries()) {
    const { issues, output } = v.safeParse(Tool, item);
    const itemFaults =
      issues?.map((issue) => `${fieldOf(issue)} ${issue.message}`) ?? faultsOf(output as HttpToolOptions, allowPrivate);
    const title = safeNameOf(item) ?? `number ${index + 1}`;
    for (const fault of new Set(itemFaults)) faults.push(`tool ${title}: ${fault}`);
    if (itemFaults.length === 0) tools.push(output as HttpToolOptions);
  }
  return { tools, faults };
}

/** Faults in the combination of fields. */
function faultsOf({ url, parameters }: HttpToolOptions, allowPrivate: boolean): string[] {
  const faults: string[] = [];
  if (!allowPrivate && !/^https:/i.test(url))
    faults.push("url must begin with https://, unless RINGPORT_AGENT_TOOLS_ALLOW_PRIVATE=1");
  const { properties } = parameters;
  const unknownName = urlTemplate(url)?.names.find((name) => !isRecord(properties) || !Object.hasOwn(properties, name));
  if (unknownName !== undefined)
    faults.push(`url has the placeholder {${unknownName}}, but parameters have no property of that name`);
  return faults;
}

/** The field of an issue; only "headers" for a header, because the path may contain its value. */
function fieldOf({ path }: v.BaseIssue<unknown>): string {
  const field = String(path?.[0]?.key ?? "it");
  return /^[\w-]{1,40}$/.test(field) ? field : "a field";
}

function safeNameOf(tool: unknown): string | undefined {
  const name = isRecord(tool) ? tool.name : undefined;
  return typeof name === "string" && /^[\w-]{1,64}$/.test(name) ? name : undefined;
}

/** True if every `pattern` in a schema compiles: an invalid one would fail every check of an input. */
function patternsCompile(schema: Readonly<Record<string, unknown>>): boolean {
  const queue: unknown[] = [schema];
  for (let index = 0; index < queue.length; index++) {
    const schema = queue[index];
    if (typeof schema !== "object" || schema === null) continue;
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === "pattern" && typeof value === "string" && !compiles(value)) return false;
      queue.push(value);
    }
  }
  return true;
}

function compiles(pattern: string): boolean {
  try {
    return Boolean(new RegExp(pattern, "u"));
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
