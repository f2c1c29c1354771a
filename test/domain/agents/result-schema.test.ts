import fc from "fast-check";
import * as v from "valibot";
import { expect, test } from "vitest";
import { resultSchemaSchema } from "../../../src/domain/agents/result-schema.ts";
import { schemaFaults } from "../../../src/domain/input/json-schema.ts";

const SCHEMA = resultSchemaSchema();

test.for([
  [{ type: "object", properties: [] }, "/properties must be an object"],
  [{ type: "object", properties: { a: { type: "text" } } }, "/properties/a/type must be one or more of object, array"],
  [{ type: "object", properties: { a: 1 } }, "/properties/a must be a schema"],
  [{ type: "object", required: [1] }, "/required must be a list of names"],
  [{ type: "object", anyOf: [] }, "/anyOf must be a list of schemas"],
  [{ type: "object", properties: { a: { enum: [] } } }, "/properties/a/enum must be a list of values"],
  [{ type: "object", properties: { a: { pattern: "(a+)+$" } } }, "/properties/a/pattern is not supported"],
  [{ type: "object", properties: { a: { minimum: "1" } } }, "/properties/a/minimum must be a number"],
  [{ properties: {} }, 'must have "type": "object"'],
] as const)("%j is refused: %s", ([schema, fault]) => {
  const { issues } = v.safeParse(SCHEMA, schema);
  expect(issues?.map(({ message }) => message)).toEqual([expect.stringContaining(fault)]);
});

test("hostile JSON is refused, or is a schema that can check any value", () => {
  const hostileSchemas = fc.oneof(
    fc.jsonValue(),
    fc.record({ type: fc.constant("object"), properties: fc.dictionary(fc.string(), fc.jsonValue()) }),
  );
  fc.assert(
    fc.property(hostileSchemas, fc.jsonValue(), (schema, value) => {
      const result = v.safeParse(SCHEMA, schema);
      if (result.success) expect(Array.isArray(schemaFaults(result.output, value))).toBe(true);
      else for (const { message } of result.issues) expect(message).toMatch(/^[a-z_]+: /);
    }),
  );
});

test("a schema nested a thousand times is refused", () => {
  let schema: object = { type: "object" };
  for (let level = 0; level < 1_000; level++) schema = { type: "object", properties: { a: schema } };
  expect(v.safeParse(SCHEMA, schema).issues?.[0]?.message).toContain("is nested deeper than 20 levels");
});
