import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundsFault, type JsonBounds, parseJson } from "../../../src/domain/input/json-body.ts";
import { fuzz } from "../../support/fuzz.ts";
import { processorMs } from "../../support/processor-time.ts";

const BOUNDS: JsonBounds = { depth: 32, parts: 1_000 };
const MEGABYTE = 1024 * 1024;
const bytesOf = (text: string) => new TextEncoder().encode(text);
const parse = (text: string, bounds = BOUNDS) => parseJson(bytesOf(text), bounds);

/** Depth of a value, and the numbers of strings, objects, arrays and commas in its text. */
function measure(value: unknown): { depth: number; parts: number } {
  if (typeof value === "string") return { depth: 0, parts: 1 };
  if (typeof value !== "object" || value === null) return { depth: 0, parts: 0 };
  const children = Object.values(value).map(measure);
  const keys = Array.isArray(value) ? 0 : children.length;
  return {
    depth: 1 + Math.max(0, ...children.map(({ depth }) => depth)),
    parts: 1 + keys + Math.max(0, children.length - 1) + children.reduce((sum, { parts }) => sum + parts, 0),
  };
}

describe("a text within the bounds", () => {
  fuzz(
    "is parsed as JSON.parse would if its value is within the bounds",
    fc.property(
      fc.jsonValue({ maxDepth: 6 }),
      fc.constantFrom(0, 1),
      fc.nat({ max: 5 }),
      fc.nat({ max: 40 }),
      (value, indent, depth, parts) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(parse(text)).toEqual({ value: JSON.parse(text) });
        const measurement = measure(value);
        const isWithinLimits = measurement.depth <= depth && measurement.parts <= parts;
        expect(boundsFault(bytesOf(text), { depth, parts }) === undefined).toBe(isWithinLimits);
      },
    ),
  );

  test("may have any number of brackets, commas and escaped quotes in its strings", () => {
    const value = { a: '[[[["\\"{,,,\\\\', b: '\\"' };
    expect(parse(JSON.stringify(value), { depth: 1, parts: 6 })).toEqual({ value });
  });
});

fuzz(
  "any bytes are parsed as JSON.parse would, or have a fault",
  fc.property(
    fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.constantFrom(...'[]{}",:\\ \n0a'), { maxLength: 200 }).map((chars) => bytesOf(chars.join(""))),
    ),
    (bytes) => {
      const result = parseJson(bytes, BOUNDS);
      if ("value" in result) expect(result.value).toEqual(JSON.parse(new TextDecoder().decode(bytes)));
      else expect(result.fault).toMatch(/^the (body|request) /);
    },
  ),
);

describe("16 MiB", () => {
  test.each(["[", '{"a":', "[[],", '"",', "1,", '["'])("of %s has a fault immediately, unparsed", (unit) => {
    const bytes = bytesOf(unit.repeat((16 * MEGABYTE) / unit.length));
    const startedAt = processorMs();
    const result = parseJson(bytes, BOUNDS);
    expect(processorMs() - startedAt).toBeLessThan(250);
    expect(result).toHaveProperty("fault", expect.stringMatching(/nested deeper than 32|more than 1000 keys/));
  });

  test.each(['\\"', "\\\\", '\\"[', "a"])("of %s in a string is read in one pass", (unit) => {
    const bytes = bytesOf(`["${unit.repeat((16 * MEGABYTE) / unit.length)}`);
    const startedAt = processorMs();
    expect(boundsFault(bytes, BOUNDS)).toBeUndefined();
    // A scan that restarts at each escaped quote takes hours.
    expect(processorMs() - startedAt).toBeLessThan(2_000);
  });
});
