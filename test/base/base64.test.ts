import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { base64Bytes, decodeBase64, encodeBase64, withoutDataPrefix } from "../../src/base/base64.ts";
import { CODE_POINT, fuzz } from "../support/fuzz.ts";
import { processorMs } from "../support/processor-time.ts";

const encode = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/** The platform's result, if the text is strict Base64. */
function reference(text: string): Uint8Array | undefined {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return undefined;
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return encode(bytes) === text ? bytes : undefined; // stray bits in the last character
}

fuzz(
  "every byte sequence is encoded as the platform does, and decoded again",
  fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
    const text = encode(bytes);
    expect(encodeBase64(bytes)).toBe(text);
    expect(decodeBase64(text)).toEqual(bytes);
    expect(base64Bytes(text)).toBe(bytes.length);
  }),
);

fuzz(
  "random text is refused, or decoded as the platform does",
  fc.property(
    fc.oneof(
      fc.string({ unit: CODE_POINT }),
      fc.array(fc.constantFrom(..."ABCDwxyz0189+/=== \n-_é\u0000"), { maxLength: 24 }).map((chars) => chars.join("")),
      fc.base64String({ maxLength: 40 }),
    ),
    (text) => {
      expect(decodeBase64(text)).toEqual(reference(text));
    },
  ),
);

describe("strict Base64", () => {
  test.each([
    "A",
    "AA",
    "AAA",
    "AAAA=",
    "A===",
    "====",
    "=",
    "AA=A",
    "AAAA====",
    "AB==",
    "AAB=",
    "AA\nA",
    "AA A",
    "-_-_",
    "ÀAAA",
  ])("excludes %j", (text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });

  test("of empty text is empty", () => {
    expect(decodeBase64("")).toEqual(new Uint8Array());
    expect(base64Bytes("")).toBe(0);
  });

  test("of ten million bytes is fast", () => {
    const text = "QUJD".repeat(3_400_000);
    const start = processorMs();
    expect(decodeBase64(text)?.length).toBe(10_200_000);
    expect(processorMs() - start).toBeLessThan(1_000);
  });
});

describe("a data URL", () => {
  test.each([
    ["data:audio/wav;base64,QUJD", "QUJD"],
    ["data:;base64,QUJD", "QUJD"],
    ["data:audio/mpeg;codecs=x;base64,", ""],
    ["QUJD", "QUJD"],
    ["data:audio/wav,QUJD", "data:audio/wav,QUJD"],
    ["data:audio/wav;base64", "data:audio/wav;base64"],
    [`data:${"x".repeat(300)};base64,QUJD`, `data:${"x".repeat(300)};base64,QUJD`],
  ])("%j carries %j", (text, expected) => {
    expect(withoutDataPrefix(text)).toBe(expected);
  });
});
