import { type JsonSchema, toJsonSchemaDefs } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { CALL_TYPES } from "../domain/call.ts";
import { inputSchemas, JSON_SCHEMAS } from "../domain/inputs.ts";
import type { Limits } from "../domain/limits.ts";
import { SCHEMAS } from "./schemas.ts";

type AnySchema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>;

/** The `components/schemas` of the document, from the very schemas that check requests and shape answers. */
export function componentSchemas(limits: Limits): Record<string, JsonSchema> {
  const inputs = inputSchemas(limits);
  const perType = Object.fromEntries(CALL_TYPES.map((type) => [`CreateCall_${type}`, inputs.createCall[type]]));
  const definitions = { ...SCHEMAS, CreateInstance: inputs.createInstance, ...perType } as Record<string, AnySchema>;
  const schemas = toJsonSchemaDefs(definitions, {
    target: "draft-2020-12",
    typeMode: "input",
    // Checks that JSON Schema cannot express; what they ask for is in the descriptions and in the problems.
    ignoreActions: ["trim", "check"],
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      const described = JSON_SCHEMAS.get(valibotSchema);
      if (described) return described as JsonSchema;
      // Answers may gain fields, and clients made from this document must not break when they do.
      if (valibotSchema.type === "strict_object") return without(jsonSchema, "additionalProperties");
      if (valibotSchema.type === "object") return withoutIgnored(jsonSchema);
      return undefined;
    },
    overrideAction: ({ valibotAction, jsonSchema }) => {
      const described = JSON_SCHEMAS.get(valibotAction);
      return described && ({ ...jsonSchema, ...described } as JsonSchema);
    },
  });
  const refs = CALL_TYPES.map((type) => [type, `#/components/schemas/CreateCall_${type}`] as const);
  const createCall = {
    oneOf: refs.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: "type", mapping: Object.fromEntries(refs) },
    description: "A field of another type than the chosen one is ignored.",
  };
  return { ...schemas, CreateCall: createCall } as Record<string, JsonSchema>;
}

function without(schema: JsonSchema, key: string): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
}

/** Drops the properties that may be anything: they belong to other types and are ignored. */
function withoutIgnored(schema: JsonSchema): JsonSchema {
  const properties = Object.entries(schema.properties ?? {});
  return {
    ...schema,
    properties: Object.fromEntries(properties.filter(([, property]) => Object.keys(property).length > 0)),
  } as JsonSchema;
}
