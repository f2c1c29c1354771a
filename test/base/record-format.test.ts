import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeRecord, encodeRecord } from "../../src/base/record-format.ts";
import { fuzz } from "../support/fuzz.ts";

const leaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double(),
  fc.bigInt(),
  fc.string({ unit: "grapheme" }),
  fc.uint8Array({ maxLength: 400 }),
  fc.date(),
);
const key = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("__proto__", "constructor", "toString", "length", ""),
);
const { value } = fc.letrec<{ value: unknown }>((reference) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    leaf,
    fc.array(reference("value"), { maxLength: 5 }),
    fc.array(fc.tuple(leaf, reference("value")), { maxLength: 5 }).map((entries) => new Map(entries)),
    fc.array(fc.tuple(key, reference("value")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

describe("a record", () => {
  fuzz(
    "is decoded as it was encoded",
    fc.property(value, (input) => {
      const output = decodeRecord(encodeRecord(input));
      expect(isDeepStrictEqual(output, input)).toBe(true); // toStrictEqual mistakes a key "constructor" for the class
    }),
  );

  fuzz(
    "is read, or refused with an Error, whatever its bytes",
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      attempt(bytes);
    }),
  );

  fuzz(
    "is read, or refused with an Error, if it is cut or changed",
    fc.property(value, fc.nat(), fc.nat(255), fc.boolean(), (input, position, byte, isCut) => {
      const bytes = encodeRecord(input);
      const at = position % bytes.length;
      if (!isCut) bytes[at] = byte;
      attempt(isCut ? bytes.subarray(0, at) : bytes);
    }),
  );

  test("leaves out undefined properties, and keeps an undefined item", () => {
    expect(decodeRecord(encodeRecord({ a: undefined, b: 1 }))).toStrictEqual({ b: 1 });
    expect(decodeRecord(encodeRecord([undefined, 1]))).toStrictEqual([undefined, 1]);
  });

  test("keeps an instance's own properties, without its class", () => {
    class Message {
      readonly keyId = 7;
      readonly bytes = Buffer.from([1, 2]);
    }
    const output = decodeRecord(encodeRecord(new Message())) as Message;
    expect(output).toStrictEqual({ keyId: 7, bytes: Uint8Array.of(1, 2) });
  });

  test("shares no memory with its input", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const record = encodeRecord(bytes);
    bytes[0] = 9;
    const output = decodeRecord(record) as Uint8Array;
    record.fill(0);
    expect(output).toEqual(Uint8Array.of(1, 2, 3));
  });

  test("changes no prototype if it has a key __proto__", () => {
    const output = decodeRecord(encodeRecord(JSON.parse('{"__proto__":{"admin":true}}'))) as { admin?: boolean };
    expect(output.admin).toBeUndefined();
    expect(Object.keys(output)).toEqual(["__proto__"]);
  });

  test.each<[string, unknown]>([
    ["a function", () => {}],
    ["a symbol", Symbol("x")],
    ["another array of numbers", Float32Array.of(1)],
    ["a buffer", new ArrayBuffer(1)],
    ["a view", new DataView(new ArrayBuffer(1))],
    ["itself", cyclicObject()],
  ])("cannot hold %s", (_, unsupportedValue) => {
    expect(() => encodeRecord({ content: unsupportedValue })).toThrow(TypeError);
  });

  test.each<[string, number[], string]>([
    ["nothing", [], "1 bytes are missing"],
    ["another format", [9, 0], "unknown format 9"],
    ["an unknown kind", [1, 99], "unknown kind of value 99"],
    ["more than one value", [1, 0, 0], "1 unexpected bytes at the end"],
    ["a length beyond the end", [1, 7, 255, 255, 255, 255], "bytes are missing"],
    ["a list beyond the end", [1, 9, 255, 255, 255, 255], "bytes are missing"],
    ["half a pair", [1, 10, 0, 0, 0, 1, 0], "a key without a value"],
    ["text that is not UTF-8", [1, 6, 0, 0, 0, 1, 255], "not valid"],
    ["a number of letters", [1, 5, 0, 0, 0, 1, 120], "BigInt"],
  ])("of %s is refused", (_, bytes, message) => {
    expect(() => decodeRecord(Uint8Array.from(bytes))).toThrow(message);
  });

  test("is refused safely if it has thousands of levels", () => {
    const levels = Array.from({ length: 100_000 }, () => [9, 0, 0, 0, 1]).flat();
    expect(() => decodeRecord(Uint8Array.from([1, ...levels, 0]))).toThrow("more than 64 levels");
  });
});

function cyclicObject(): object {
  const self: Record<string, unknown> = {};
  self.self = self;
  return self;
}

function attempt(bytes: Uint8Array): void {
  try {
    decodeRecord(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(RangeError); // no stack overflow, no array too large
  }
}
