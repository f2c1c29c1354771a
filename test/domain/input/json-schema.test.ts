import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CHECKED_KEYWORDS, schemaFaults } from "../../../src/domain/input/json-schema.ts";

describe("a value is checked by its schema", () => {
  test.for([
    [{ type: "object", required: ["a"] }, {}, ["/a is missing"]],
    [{ type: "object", properties: { a: { type: "string" } } }, { a: 1 }, ["/a must be a string"]],
    [{ type: ["string", "null"] }, null, []],
    [{ type: ["string", "null"] }, 1, ["it must be a string or a null"]],
    [{ type: "integer" }, 1.5, ["it must be an integer"]],
    [{ type: "number" }, Number.NaN, ["it must be a number"]],
    [{ type: "object" }, [], ["it must be an object"]],
    [{ enum: ["a", { b: [1] }] }, { b: [1] }, []],
    [{ enum: ["a", "b"] }, "c", ['it must be one of "a", "b"']],
    [{ const: null }, 0, ["it must be null"]],
    [{ minimum: 1, maximum: 2 }, 3, ["it must be at most 2"]],
    [{ exclusiveMinimum: 1 }, 1, ["it must be more than 1"]],
    [{ maxLength: 1 }, "👋", []],
    [{ minLength: 2 }, "👋", ["it must have at least 2 characters, not 1"]],
    [
      { items: { type: "string" }, maxItems: 2 },
      ["a", 1, "c"],
      ["it must have at most 2 items, not 3", "/1 must be a string"],
    ],
    [{ properties: { a: true }, additionalProperties: false }, { a: 1, b: 2 }, ["/b must be omitted"]],
    [{ additionalProperties: { type: "string" } }, { toString: 1 }, ["/toString must be a string"]],
    [{ required: ["constructor"] }, {}, ["/constructor is missing"]],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, 1, ["it must be one of its alternatives"]],
    [{ oneOf: [{ type: "number" }, { minimum: 1 }] }, 2, ["it must be exactly one of its alternatives"]],
    [{ pattern: "^a$" }, "b", ["it must match ^a$"]],
    [{ unknown: 1, format: "date" }, "x", []],
  ] as const)("%j %j", ([schema, value, faults]) => {
    expect(schemaFaults(schema, value)).toEqual(faults);
  });

  test("any value has at most five faults under any schema", () => {
    const keywords = fc.constantFrom(...CHECKED_KEYWORDS.filter((keyword) => keyword !== "pattern"));
    const { schema } = fc.letrec<{ schema: object; any: unknown }>((reference) => ({
      schema: fc.dictionary(
        keywords,
        fc.oneof(reference("any"), reference("schema"), fc.array(reference("schema"), { maxLength: 3 })),
        {
          maxKeys: 4,
        },
      ),
      any: fc.jsonValue(),
    }));
    fc.assert(
      fc.property(schema, fc.jsonValue(), (candidate, value) => {
        const faults = schemaFaults(candidate as Record<string, unknown>, value);
        expect(faults.length).toBeLessThanOrEqual(5);
        for (const fault of faults) expect(typeof fault).toBe("string");
      }),
    );
  });
});
