/** The part of JSON Schema 2020-12 that the document uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
}

/** Keywords that {@link faults} understands; a test asserts that the document uses no other. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  ...["$ref", "type", "enum", "const", "anyOf", "oneOf", "properties", "required", "additionalProperties", "items"],
  ...["pattern", "format", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties"],
  ...["description", "discriminator", "contentEncoding", "propertyNames", "examples"],
]);

/**
 * The faults of the value, as "path: fault"; empty if it fits.
 * An unknown field is a fault too, unless the schema has additionalProperties.
 */
export function faults(root: unknown, schema: Schema, value: unknown, path: string = "$"): string[] {
  if (schema.$ref) return faults(root, resolve(root, schema.$ref) as Schema, value, path);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) {
    const fitCount = options.filter((option) => faults(root, option, value, path).length === 0).length;
    if (fitCount !== 1 && !(fitCount > 1 && schema.anyOf)) return [`${path}: fits ${fitCount} of the alternatives`];
    if (!schema.properties) return [];
  }
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => hasType(type, value))) return [`${path}: is not of type ${types}`];
  if (schema.enum && !schema.enum.includes(value)) return [`${path}: ${value} is not one of ${schema.enum}`];
  if (schema.const !== undefined && schema.const !== value) return [`${path}: ${value} is not ${schema.const}`];
  if (typeof value === "string") return stringFaults(schema, value, path);
  if (typeof value === "number")
    return isOutside(schema.minimum, schema.maximum, value) ? [`${path}: out of range`] : [];
  if (Array.isArray(value)) {
    if (isOutside(schema.minItems, schema.maxItems, value.length)) return [`${path}: wrong number of items`];
    return value.flatMap((item, i) => faults(root, schema.items ?? {}, item, `${path}/${i}`));
  }
  return typeof value === "object" && value !== null ? objectFaults(root, schema, value, path) : [];
}

function objectFaults(root: unknown, schema: Schema, value: object, path: string): string[] {
  const missingNames = (schema.required ?? []).filter((name) => !Object.hasOwn(value, name));
  const missingFields = missingNames.map((name) => `${path}: ${name} is missing`);
  if (!schema.properties && schema.additionalProperties === undefined) return missingFields;
  if (isOutside(undefined, schema.maxProperties, Object.keys(value).length)) return [`${path}: too many fields`];
  return [
    ...missingFields,
    ...Object.entries(value).flatMap(([name, field]) => {
      const property = schema.properties?.[name] ?? schema.additionalProperties;
      if (property === undefined || property === false) return [`${path}: there is no field ${name}`];
      return property === true ? [] : faults(root, property, field, `${path}/${name}`);
    }),
  ];
}

function stringFaults(schema: Schema, value: string, path: string): string[] {
  if (isOutside(schema.minLength, schema.maxLength, [...value].length)) return [`${path}: wrong length`];
  if (schema.pattern && !new RegExp(schema.pattern, "u").test(value)) return [`${path}: does not match`];
  if (schema.format === "date-time" && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value))
    return [`${path}: is not a timestamp with milliseconds and Z`];
  return [];
}

const isOutside = (min: number = -Infinity, max: number = Infinity, value: number): boolean =>
  value < min || value > max;

function hasType(type: string, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}

/** The target of a `#/…` reference; undefined if there is none. */
export function resolve(root: unknown, ref: string): unknown {
  return ref
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], root);
}
