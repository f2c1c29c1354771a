import * as v from "valibot";
import { isObject, issueText, jsonObjectFault, type Schema, withJsonSchema } from "../input/input-checks.ts";
import { CHECKED_KEYWORDS, type JsonSchema } from "../input/json-schema.ts";

/** Maximum size of a result's schema as JSON, bytes. */
const MAX_BYTES = 8 * 1024;
/** Maximum nesting of its JSON, levels. */
const MAX_LEVELS = 20;
const ANNOTATIONS = ["title", "description", "default", "examples", "format", "$schema", "$id", "$comment"];
/** An untrusted pattern could keep this process busy forever. */
const KEYWORDS = CHECKED_KEYWORDS.filter((keyword) => keyword !== "pattern");
const TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** The schema of the field `resultSchema`: a JSON Schema that uses a subset of the keywords. */
export function resultSchemaSchema(): Schema<JsonSchema> {
  const schema = v.pipe(
    v.any(),
    v.rawCheck<unknown>(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const message = jsonObjectFault(dataset.value, MAX_LEVELS, MAX_BYTES);
      if (message !== undefined) return addIssue({ message });
      const value = dataset.value as JsonSchema;
      const fault = value.type === "object" ? schemaFault(value, "") : `must have "type": "object"`;
      if (fault !== undefined) addIssue({ message: issueText("value_invalid", fault) });
    }),
  );
  return withJsonSchema(schema, {
    type: "object",
    additionalProperties: true,
    description:
      `JSON Schema of the result, an object: at most ${MAX_BYTES} bytes, with the keywords ${KEYWORDS.join(", ")}, ` +
      "and annotations such as description.",
  }) as Schema<JsonSchema>;
}

/** Reason why a value is not a supported schema, with its location; undefined if it is valid. */
function schemaFault(schema: unknown, at: string): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return `${at || "it"} must be a schema`;
  for (const [keyword, value] of Object.entries(schema)) {
    if (ANNOTATIONS.includes(keyword)) continue;
    const location = `${at}/${keyword.slice(0, 40)}`;
    if (!KEYWORDS.includes(keyword)) return `${location} is not supported; the keywords are ${KEYWORDS.join(", ")}`;
    const fault = keywordFault(keyword, value, location);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function keywordFault(keyword: string, value: unknown, at: string): string | undefined {
  switch (keyword) {
    case "const":
      return undefined;
    case "enum":
      return Array.isArray(value) && value.length > 0 ? undefined : `${at} must be a list of values`;
    case "type": {
      const types = Array.isArray(value) ? value : [value];
      return types.length > 0 && types.every((type) => TYPES.includes(type))
        ? undefined
        : `${at} must be one or more of ${TYPES.join(", ")}`;
    }
    case "required":
      return Array.isArray(value) && value.every((name) => typeof name === "string")
        ? undefined
        : `${at} must be a list of names`;
    case "properties":
      if (!isObject(value)) return `${at} must be an object`;
      return firstFault(Object.entries(value).map(([name, inner]) => [inner, `${at}/${name.slice(0, 40)}`]));
    case "anyOf":
    case "oneOf":
      if (!Array.isArray(value) || value.length === 0) return `${at} must be a list of schemas`;
      return firstFault(value.map((inner: unknown, index) => [inner, `${at}/${index}`]));
    case "items":
    case "additionalProperties":
      return schemaFault(value, at);
    default:
      return typeof value === "number" && Number.isFinite(value) ? undefined : `${at} must be a number`;
  }
}

function firstFault(schemas: readonly (readonly [schema: unknown, at: string])[]): string | undefined {
  for (const [schema, at] of schemas) {
    const fault = schemaFault(schema, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
