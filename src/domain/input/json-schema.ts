/** A JSON Schema (2020-12); {@link schemaFaults} supports the common keywords. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Maximum number of reported faults: enough to fix a value. */
const MAX_FAULTS = 5;
const MAX_EXCERPT = 40;

/**
 * Faults of a value according to a schema, worded for the value's author: `/people must be at least 1`. Empty if there
 * are none; at most five. Unknown keywords are ignored.
 */
export function schemaFaults(schema: JsonSchema, value: unknown): string[] {
  const faults: string[] = [];
  check(schema, value, "", faults);
  return faults;
}

type Check = (expected: unknown, value: unknown, at: string, faults: string[], schema: JsonSchema) => void;

/** Checks by keyword; each checks the values that it applies to, and ignores others. */
const CHECKS: ReadonlyMap<string, Check> = new Map(
  Object.entries<Check>({
    type(expected, value, at, faults) {
      const types = (Array.isArray(expected) ? expected : [expected]).filter((type) => typeof type === "string");
      if (types.length > 0 && !types.some((type) => isOfType(type, value)))
        faults.push(`${at || "it"} must be ${types.map(withArticle).join(" or ")}`);
    },
    const(expected, value, at, faults) {
      if (!isDeepEqual(expected, value)) faults.push(`${at || "it"} must be ${excerpt(expected)}`);
    },
    enum(expected, value, at, faults) {
      if (Array.isArray(expected) && !expected.some((item) => isDeepEqual(item, value)))
        faults.push(`${at || "it"} must be one of ${expected.slice(0, 20).map(excerpt).join(", ")}`);
    },
    minimum: limit((value, bound) => value >= bound, "at least"),
    maximum: limit((value, bound) => value <= bound, "at most"),
    exclusiveMinimum: limit((value, bound) => value > bound, "more than"),
    exclusiveMaximum: limit((value, bound) => value < bound, "less than"),
    minLength: size(lengthOf, (length, bound) => length >= bound, "at least", "characters"),
    maxLength: size(lengthOf, (length, bound) => length <= bound, "at most", "characters"),
    minItems: size(itemsOf, (items, bound) => items >= bound, "at least", "items"),
    maxItems: size(itemsOf, (items, bound) => items <= bound, "at most", "items"),
    pattern(expected, value, at, faults) {
      if (typeof value !== "string" || typeof expected !== "string") return;
      if (!new RegExp(expected, "u").test(value)) faults.push(`${at || "it"} must match ${expected}`);
    },
    required(expected, value, at, faults) {
      if (!isRecord(value) || !Array.isArray(expected)) return;
      for (const name of expected)
        if (typeof name === "string" && !Object.hasOwn(value, name)) faults.push(`${at}/${name} is missing`);
    },
    properties(expected, value, at, faults) {
      if (!isRecord(value) || !isRecord(expected)) return;
      for (const name of Object.keys(expected))
        if (Object.hasOwn(value, name)) check(expected[name], value[name], `${at}/${name}`, faults);
    },
    additionalProperties(expected, value, at, faults, { properties }) {
      if (!isRecord(value) || expected === true) return;
      const namedProperties = isRecord(properties) ? properties : {};
      for (const name of Object.keys(value)) {
        if (faults.length >= MAX_FAULTS) return;
        if (!Object.hasOwn(namedProperties, name))
          check(expected, value[name], `${at}/${name.slice(0, MAX_EXCERPT)}`, faults);
      }
    },
    items(expected, value, at, faults) {
      if (!Array.isArray(value)) return;
      for (let index = 0; index < value.length && faults.length < MAX_FAULTS; index++)
        check(expected, value[index], `${at}/${index}`, faults);
    },
    anyOf(expected, value, at, faults) {
      if (Array.isArray(expected) && countMatches(expected, value) === 0)
        faults.push(`${at || "it"} must be one of its alternatives`);
    },
    oneOf(expected, value, at, faults) {
      if (Array.isArray(expected) && countMatches(expected, value) !== 1)
        faults.push(`${at || "it"} must be exactly one of its alternatives`);
    },
  }),
);

/** The keywords by which values are checked. */
export const CHECKED_KEYWORDS: readonly string[] = [...CHECKS.keys()];

function check(schema: unknown, value: unknown, at: string, faults: string[]): void {
  if (faults.length >= MAX_FAULTS) return;
  if (schema === false) faults.push(`${at || "it"} must be omitted`);
  if (!isRecord(schema)) return;
  for (const [keyword, runCheck] of CHECKS) {
    if (faults.length >= MAX_FAULTS) return;
    if (Object.hasOwn(schema, keyword)) runCheck(schema[keyword], value, at, faults, schema);
  }
}

function countMatches(schemas: readonly unknown[], value: unknown): number {
  return schemas.filter((schema) => {
    const faults: string[] = [];
    check(schema, value, "", faults);
    return faults.length === 0;
  }).length;
}

function limit(isWithin: (value: number, bound: number) => boolean, words: string): Check {
  return (bound, value, at, faults) => {
    if (typeof value === "number" && typeof bound === "number" && !isWithin(value, bound))
      faults.push(`${at || "it"} must be ${words} ${bound}`);
  };
}

function size(
  measure: (value: unknown) => number | undefined,
  isWithin: (size: number, bound: number) => boolean,
  words: string,
  unit: string,
): Check {
  return (bound, value, at, faults) => {
    const actualSize = measure(value);
    if (actualSize !== undefined && typeof bound === "number" && !isWithin(actualSize, bound))
      faults.push(`${at || "it"} must have ${words} ${bound} ${unit}, not ${actualSize}`);
  };
}

/** Length in code points, as in JSON Schema. */
function lengthOf(value: unknown): number | undefined {
  return typeof value === "string" ? [...value].length : undefined;
}

function itemsOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function isOfType(type: string, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "number") return typeof value === "number" && Number.isFinite(value);
  return typeof value === type;
}

const withArticle = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

function isDeepEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right) || left === right) return true;
  if (Array.isArray(left))
    return (
      Array.isArray(right) && left.length === right.length && left.every((item, at) => isDeepEqual(item, right[at]))
    );
  if (!isRecord(left) || !isRecord(right)) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isDeepEqual(left[name], right[name]))
  );
}

function excerpt(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
