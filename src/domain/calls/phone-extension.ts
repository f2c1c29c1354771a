import * as v from "valibot";
import { issueText, type Schema, withJsonSchema } from "../input/input-checks.ts";

/** Maximum number of keys and pauses in an extension. */
export const MAX_EXTENSION_LENGTH = 32;
/** The pauses of an extension, ms. */
const PAUSES: ReadonlyMap<string, number> = new Map([
  ["w", 500],
  [",", 1_000],
]);
const EXTENSION = /^(?=.*[0-9*#])[0-9*#w,]+$/;
const RULE =
  'must be 1 to 32 of the keys 0-9, * and #, with "w" for a pause of half a second and "," for a second, such as ",,12"';

/** The schema of the keys that are sent after the answer. */
export function extensionSchema(): Schema<string> {
  const schema = v.pipe(
    v.string(),
    v.check((text) => text.length <= MAX_EXTENSION_LENGTH && EXTENSION.test(text), issueText("value_invalid", RULE)),
  );
  return withJsonSchema(schema, {
    type: "string",
    minLength: 1,
    maxLength: MAX_EXTENSION_LENGTH,
    pattern: EXTENSION.source,
    description:
      "Keys that are sent after the answer, before anything is heard: 0-9, * and #; w is a pause of half a second, a comma one of a second.",
    examples: [",,12"],
  });
}

/** The parts of an extension in order: keys to send together, and pauses, ms. */
export function extensionParts(extension: string): (string | number)[] {
  const parts = extension.match(/[0-9*#]+|[w,]/g) ?? [];
  return parts.map((part) => PAUSES.get(part) ?? part);
}
