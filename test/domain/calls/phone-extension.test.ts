import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { extensionParts, extensionSchema, MAX_EXTENSION_LENGTH } from "../../../src/domain/calls/phone-extension.ts";

const isAccepted = (extension: unknown): boolean => v.is(extensionSchema(), extension);

describe("an extension", () => {
  test.each(["1", ",,12", "12w*3#", "w1w", "#".repeat(MAX_EXTENSION_LENGTH)])("may be %j", (extension) => {
    expect(isAccepted(extension)).toBe(true);
  });

  test.each([
    "",
    ",",
    "ww",
    "1 2",
    "12a",
    "W1",
    "A",
    "1\n",
    "١",
    "1;2",
    "1".repeat(MAX_EXTENSION_LENGTH + 1),
    12,
    null,
  ])("may not be %j", (extension) => expect(isAccepted(extension)).toBe(false));

  test("is split into keys and pauses, in order", () => {
    expect(extensionParts(",,12w*3#")).toEqual([1_000, 1_000, "12", 500, "*3#"]);
  });

  test("is accepted only if every character is a key or a pause", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."0159*#w,xA \n") }), (text) => {
        const parts = extensionParts(text);
        const joinedText = parts.map((part) => (part === 500 ? "w" : part === 1_000 ? "," : part)).join("");
        if (isAccepted(text)) expect(joinedText).toBe(text);
      }),
    );
  });
});
