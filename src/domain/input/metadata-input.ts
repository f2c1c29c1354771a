import * as v from "valibot";
import { isDeeperThan } from "../../base/json-depth.ts";
import type { Metadata } from "../instances/instance.ts";
import type { Limits } from "../limits.ts";
import { isObject, issueText, type Schema, withJsonSchema } from "./input-checks.ts";

/** The schema of an instance's or a call's metadata. */
export function metadataSchema(limits: Limits): Schema<Metadata> {
  // v.record would silently drop keys such as "constructor".
  const schema = v.pipe(
    v.any(),
    v.rawCheck<unknown>(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const value: unknown = dataset.value;
      if (!isObject(value)) return addIssue({ message: issueText("type_invalid", "must be an object") });
      if (isDeeperThan(value, limits.metadataDepth))
        return addIssue({ message: issueText("too_long", `is nested deeper than ${limits.metadataDepth} levels`) });
      const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
      if (bytes > limits.metadataBytes)
        addIssue({
          message: issueText("too_long", `is ${bytes} bytes as JSON, at most ${limits.metadataBytes} are allowed`),
        });
    }),
  );
  return withJsonSchema(schema, {
    type: "object",
    additionalProperties: true,
    description: `Arbitrary key-value data, at most ${limits.metadataBytes} bytes as JSON and ${limits.metadataDepth} levels deep.`,
  }) as Schema<Metadata>;
}
