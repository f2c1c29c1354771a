import * as v from "valibot";
import type { Metadata } from "../instances/instance.ts";
import type { Limits } from "../limits.ts";
import { jsonObjectFault, type Schema, withJsonSchema } from "./input-checks.ts";

/** The schema of an instance's or a call's metadata. */
export function metadataSchema(limits: Limits): Schema<Metadata> {
  // v.record would silently drop keys such as "constructor".
  const schema = v.pipe(
    v.any(),
    v.rawCheck<unknown>(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const message = jsonObjectFault(dataset.value, limits.metadataDepth, limits.metadataBytes);
      if (message !== undefined) addIssue({ message });
    }),
  );
  return withJsonSchema(schema, {
    type: "object",
    additionalProperties: true,
    description: `Arbitrary key-value data, at most ${limits.metadataBytes} bytes as JSON and ${limits.metadataDepth} levels deep.`,
  }) as Schema<Metadata>;
}
