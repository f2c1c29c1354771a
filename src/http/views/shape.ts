import * as v from "valibot";

/** A description of each shape. `src/http/response-types.ts` has it as a docstring; `/openapi.json` leaves it out. */
export const DESCRIPTIONS: Map<unknown, string> = new Map();

/** An object of a response. @param description a sentence about it */
export function shape<E extends v.ObjectEntries>(description: string, entries: E): v.StrictObjectSchema<E, undefined> {
  const schema = v.strictObject(entries);
  DESCRIPTIONS.set(schema, description);
  return schema;
}

/** A whole number from 0 on. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const milliseconds: typeof count = count;
/** A part of a whole, 0 to 1. */
export const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
export const isoTime = v.pipe(v.string(), v.isoTimestamp(), v.description("RFC 3339, UTC, with milliseconds."));
export const phone = v.pipe(v.string(), v.description("E.164."));
export const instanceId = v.pipe(v.string(), v.startsWith("inst_"));
export const callId = v.pipe(v.string(), v.startsWith("call_"));
