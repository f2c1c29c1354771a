import { type IdPrefix, isId } from "../../base/ids.ts";
import { decodeCursor, logPlace } from "../../domain/cursor.ts";
import { PHONE_NUMBER } from "../../domain/numbers/phone-number.ts";
import { type Fault, Refusal } from "../../domain/refusal.ts";

/** One query parameter: how it is read, and how `/openapi.json` describes it. */
export interface QueryParameter<T> {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The allowed values of a parameter that lists several. */
  readonly words?: readonly string[];
  /** The parsed value; undefined if the text is invalid. */
  read(text: string): T | undefined;
  /** The rule for a value, after "must be". */
  readonly rule: string;
}

type Parameters = Readonly<Record<string, QueryParameter<unknown>>>;
type ValueOf<P> = P extends QueryParameter<infer T> ? T : never;

/** The values of a query string, by the keys of their parameters. */
export type QueryValues<P extends Parameters> = { readonly [K in keyof P]?: ValueOf<P[K]> | undefined };

/**
 * Reads a query string. Unknown parameters are ignored.
 * @throws {Refusal} `invalid_request` with a fault for each wrong parameter
 */
export function readQuery<P extends Parameters>(search: string, parameters: P): QueryValues<P> {
  if (search === "") return {};
  const query = new URLSearchParams(search);
  const values: Record<string, unknown> = {};
  const faults: Fault[] = [];
  for (const [key, parameter] of Object.entries(parameters)) {
    const [text, ...otherTexts] = query.getAll(parameter.name);
    if (text === undefined) continue;
    const value = otherTexts.length === 0 ? parameter.read(text) : undefined;
    if (value !== undefined) values[key] = value;
    else faults.push(faultOf(parameter, otherTexts.length > 0));
  }
  if (faults.length > 0)
    throw new Refusal("invalid_request", faults.map((f) => f.detail).join("; "), { errors: faults });
  return values as QueryValues<P>;
}

function faultOf({ name, rule }: QueryParameter<unknown>, isRepeated: boolean): Fault {
  return {
    pointer: "",
    parameter: name,
    code: "value_invalid",
    detail: isRepeated ? `${name} must be given once` : `${name} must be ${rule}`,
  };
}

/** The parameter for the number of items per page. */
export function limitParameter(max: number, defaultText: string): QueryParameter<number> {
  return {
    name: "limit",
    description: `Items per page. Default: ${defaultText}.`,
    schema: { type: "integer", minimum: 1, maximum: max },
    rule: `a whole number from 1 to ${max}`,
    read: (text) => (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= max ? Number(text) : undefined),
  };
}

/** The start of a page in a list sorted by number: the opaque value from a Link header. */
export function phoneCursorParameter(): QueryParameter<string> {
  return {
    ...cursorParameter("inst"),
    read(text) {
      const phone = decodeCursor(text);
      return phone !== undefined && PHONE_NUMBER.test(phone) ? phone : undefined;
    },
  };
}

/** The start of a page in a list sorted by position: the opaque value from a Link header. */
export function positionCursorParameter(): QueryParameter<string> {
  return {
    ...cursorParameter("batch"),
    read(text) {
      const position = decodeCursor(text);
      return position !== undefined && /^[1-9]\d{0,8}$/.test(position) ? position : undefined;
    },
  };
}

/** The start of a page: the opaque value from a Link header. */
export function cursorParameter(prefix: IdPrefix): QueryParameter<string> {
  return {
    name: "cursor",
    description: "The start of the page, from the Link header of the previous page.",
    schema: { type: "string" },
    rule: "a cursor from a Link header",
    read(text) {
      const id = decodeCursor(text);
      return id !== undefined && isId(prefix, id) ? id : undefined;
    },
  };
}

/** The start of a page in a log: the opaque value from a Next-Cursor header. */
export const LOG_CURSOR: QueryParameter<string> = {
  name: "cursor",
  description: "The start of the page: the Next-Cursor of the previous page; `latest`: only events from now on.",
  schema: { type: "string" },
  rule: "a cursor from a Next-Cursor header, or latest",
  read: (text) => (logPlace(text) ? text : undefined),
};

/** A parameter with a fixed set of values. */
export function choiceParameter<T extends string>(
  name: string,
  description: string,
  choices: readonly T[],
): QueryParameter<T> {
  return {
    name,
    description,
    schema: { type: "string", enum: choices },
    rule: `one of ${choices.join(", ")}`,
    read: (text) => choices.find((choice) => choice === text),
  };
}

/** A parameter that is true or false. */
export function switchParameter(name: string, description: string): QueryParameter<boolean> {
  return {
    name,
    description,
    schema: { type: "boolean" },
    rule: "true or false",
    read: (text) => ({ true: true, false: false })[text],
  };
}

/** The parameter that selects voices by their language. */
export const VOICE_LANGUAGE: QueryParameter<string> = {
  name: "language",
  description: "Only voices of this language: `pt`, or `pt-BR`.",
  schema: { type: "string", pattern: "^[A-Za-z]{2,3}(-([A-Za-z]{2}|[0-9]{3}))?$" },
  rule: "a language such as pt or pt-BR",
  read: (text) => (/^[A-Za-z]{2,3}(-([A-Za-z]{2}|[0-9]{3}))?$/.test(text) ? text : undefined),
};

/** A parameter that lists some of a fixed set of values, separated by commas. */
export function choicesParameter<T extends string>(
  name: string,
  description: string,
  choices: readonly T[],
): QueryParameter<readonly T[]> {
  return {
    name,
    description,
    schema: { type: "string", examples: [choices.slice(0, 2).join(",")] },
    words: choices,
    rule: `a comma-separated list of ${choices.join(", ")}`,
    read(text) {
      const items = text.split(",", choices.length + 1).map((choice) => choice.trim());
      return items.every((choice): choice is T => (choices as readonly string[]).includes(choice))
        ? [...new Set(items)]
        : undefined;
    },
  };
}

const TEXT_LENGTH = 1_000;

/** A text parameter, with any text that databases can store. */
export function textParameter(name: string, description: string): QueryParameter<string> {
  return {
    name,
    description,
    schema: { type: "string", minLength: 1, maxLength: TEXT_LENGTH },
    rule: `a text of 1 to ${TEXT_LENGTH} characters without U+0000`,
    read: (text) => (text !== "" && text.length <= TEXT_LENGTH && !text.includes("\0") ? text : undefined),
  };
}

/** A phone number parameter. */
export function phoneParameter(name: string, description: string): QueryParameter<string> {
  return {
    name,
    description,
    schema: { type: "string", pattern: PHONE_NUMBER.source },
    rule: "an E.164 number such as +12025550100, its + written as %2B",
    read(text) {
      const number = text.replace(/^ /, "+"); // an unescaped "+" arrives as a space
      return PHONE_NUMBER.test(number) ? number : undefined;
    },
  };
}

/** An id parameter. */
export function idParameter(name: string, description: string, prefix: IdPrefix): QueryParameter<string> {
  return {
    name,
    description,
    schema: { type: "string" },
    rule: `an id with the prefix ${prefix}_`,
    read: (text) => (isId(prefix, text) ? text : undefined),
  };
}

const RFC_3339 =
  /^(\d{4}-\d\d-\d\d)[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** A time parameter (RFC 3339), read as ms since 1970-01-01 UTC. */
export function timeParameter(name: string, description: string): QueryParameter<number> {
  return {
    name,
    description,
    schema: { type: "string", format: "date-time" },
    rule: "an RFC 3339 time such as 2026-01-31T12:00:00.000Z",
    read(text) {
      const time = text.replace(" ", "+"); // an unescaped "+02:00" arrives with a space
      const [, day] = RFC_3339.exec(time) ?? [];
      const midnight = Date.parse(`${day}T00:00:00Z`);
      // Date would silently turn the 30th of February into a day in March.
      if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined;
      return Date.parse(time.toUpperCase());
    },
  };
}

/** A parameter that lists the objects to add to the record, separated by commas. */
export function expandParameter<T extends string>(names: readonly T[]): QueryParameter<ReadonlySet<T>> {
  return {
    name: "expand",
    description: `Objects to add to the record, separated by commas: ${names.join(", ")}.`,
    schema: { type: "string", examples: [names.join(",")] },
    rule: `a comma-separated list of ${names.join(", ")}`,
    read(text) {
      const items = text.split(",", names.length + 1).map((name) => name.trim());
      return items.every((name): name is T => (names as readonly string[]).includes(name)) ? new Set(items) : undefined;
    },
  };
}
