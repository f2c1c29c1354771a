import { type JsonSchema, toJsonSchemaDefs } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { CALL_TYPES } from "../../domain/calls/call.ts";
import { CONSENT_SCHEMA } from "../../domain/dialling-rules/consent-input.ts";
import { EVENT_TYPES } from "../../domain/events.ts";
import { JSON_SCHEMAS } from "../../domain/input/input-checks.ts";
import { inputSchemas } from "../../domain/input/inputs.ts";
import { PAIRING_SCHEMA } from "../../domain/instances/pairing-input.ts";
import type { Limits } from "../../domain/limits.ts";
import { SCHEMAS } from "../views/all-shapes.ts";
import { EVENTS } from "../views/event-shapes.ts";

type ObjectSchema = AnySchema & { readonly entries: Readonly<Record<string, AnySchema & { wrapped?: AnySchema }>> };
type AnySchema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>;

/** Checks that JSON Schema cannot express; problem documents report them. Any other unconvertible check is an error. */
const INEXPRESSIBLE_TYPES: ReadonlySet<string> = new Set(["trim", "check", "raw_check"]);

/** The `components/schemas` of the document, made from the schemas that check requests and describe responses. */
export function componentSchemas(limits: Limits): Record<string, JsonSchema> {
  const inputs = inputSchemas(limits);
  const schemaByType = Object.fromEntries(CALL_TYPES.map((type) => [`CreateCall_${type}`, inputs.createCall[type]]));
  const definitions = {
    ...SCHEMAS,
    ...Object.fromEntries(Object.entries(EVENTS).map(([type, schema]) => [`Event_${type}`, schema])),
    CreateInstance: inputs.createInstance,
    UpdateInstance: inputs.updateInstance,
    CreateAudio: inputs.createAudio,
    CreateWebhook: inputs.createWebhook,
    UpdateWebhook: inputs.updateWebhook,
    PutConsent: CONSENT_SCHEMA,
    CreatePairingCode: PAIRING_SCHEMA,
    CreateBatch: inputs.createBatch,
    StartBatch: inputs.startBatch,
    CancelBatch: inputs.cancelBatch,
    BatchTargetInput: inputs.target,
    ...schemaByType,
  } as Record<string, AnySchema>;
  const schemas = toJsonSchemaDefs(definitions, {
    target: "draft-2020-12",
    typeMode: "input",
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      // Responses may gain fields, and clients generated from this document must not break then.
      if (valibotSchema.type === "strict_object") return omit(jsonSchema, "additionalProperties");
      if (valibotSchema.type === "object") return withDescriptions(valibotSchema as ObjectSchema, jsonSchema);
      return undefined;
    },
    overrideAction: ({ valibotAction, jsonSchema }) => {
      const override = JSON_SCHEMAS.get(valibotAction);
      if (override) return { ...jsonSchema, ...override } as JsonSchema;
      return INEXPRESSIBLE_TYPES.has(valibotAction.type) ? jsonSchema : undefined;
    },
  });
  const createCall = byType("CreateCall", CALL_TYPES, "Fields of other types are ignored.");
  const event = byType(
    "Event",
    EVENT_TYPES,
    "An entry of a timeline. Ignore types that you do not know: more may be added.",
  );
  const targetInput = schemas.BatchTargetInput as JsonSchema;
  const targets = { type: "array", items: { $ref: "#/components/schemas/BatchTargetInput" } };
  const addTargets = {
    anyOf: [{ type: "object", required: ["targets"], properties: { targets } }, targets],
    description: "Targets to add: in an object, or the bare list.",
  };
  const updateTarget = { ...omit(targetInput, "required"), description: "The fields to change; null removes one." };
  const bodies = { CreateCall: createCall, AddTargets: addTargets, UpdateTarget: updateTarget };
  return { ...schemas, ...bodies, Event: event } as Record<string, JsonSchema>;
}

/** A schema that is one of several, selected by the field `type`. */
function byType(name: string, types: readonly string[], description: string): Record<string, unknown> {
  const refs = types.map((type) => [type, `#/components/schemas/${name}_${type}`] as const);
  const discriminator = { propertyName: "type", mapping: Object.fromEntries(refs) };
  return { oneOf: refs.map(([, $ref]) => ({ $ref })), discriminator, description };
}

function omit(schema: JsonSchema, key: string): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key));
}

/**
 * Inserts the domain's hand-written descriptions: the converter ignores a field made of several steps. Drops fields
 * without a rule: they belong to other types and are ignored.
 */
function withDescriptions(schema: ObjectSchema, json: JsonSchema): JsonSchema {
  const properties = Object.entries(json.properties ?? {}).map(([name, property]) => {
    const field = schema.entries[name];
    const override = field && JSON_SCHEMAS.get(field.wrapped ?? field);
    return [name, override ?? property] as const;
  });
  const describedProperties = properties.filter(([, property]) => Object.keys(property).length > 0);
  return { ...json, properties: Object.fromEntries(describedProperties) } as JsonSchema;
}
