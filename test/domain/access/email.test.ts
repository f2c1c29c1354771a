import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkedEmail, emailKey, emailOf } from "../../../src/domain/access/email.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";
import { processorMs } from "../../support/processor-time.ts";

describe("an email address", () => {
  test.each(["ana@example.com", "a@b", "a.b+c@sub.example.org", "o'neil@xn--bcher-kva.example", "#@127.0.0.1"])(
    "can be %s",
    (email) => expect(emailOf(email)).toBe(email),
  );

  test.each([
    "",
    "ana",
    "@example.com",
    "ana@",
    "ana@@example.com",
    "ana@example..com",
    "ana@-example.com",
    "ana@example.com.",
    "a na@example.com",
    "ana@exam ple.com",
    "<ana@example.com>",
    "ana@example.com\nbcc: eve@example.com",
    "ana@example.com\0",
    "änä@example.com",
    `${"a".repeat(250)}@b.org`,
    `ana@${"a".repeat(64)}.com`,
    null,
    7,
    ["ana@example.com"],
  ])("is not %j", (input) => {
    expect(emailOf(input)).toBeUndefined();
    expect(() => checkedEmail(input)).toThrow(expect.objectContaining({ code: "email_invalid" }));
  });

  test("loses surrounding space, and keeps its case", () => {
    expect(emailOf("  Ana@Example.com\n")).toBe("Ana@Example.com");
  });

  fuzz(
    "has the same key in upper and lower case, and stays valid",
    fc.property(fc.emailAddress(), fc.string(), (address, padding) => {
      const email = emailOf(`${padding.replace(/\S/g, "")}${address}`);
      if (email === undefined) return;
      expect(emailOf(email)).toBe(email);
      expect(emailKey(email.toUpperCase())).toBe(emailKey(email));
      expect(emailKey(emailKey(email))).toBe(emailKey(email));
      expect(email).toMatch(/^[\x21-\x7e]{3,254}$/);
    }),
  );

  fuzz(
    "is found in any value without a crash",
    fc.property(fc.oneof(fc.string({ unit: CODE_POINT }), fc.anything()), (input) => {
      const email = emailOf(input);
      if (email !== undefined) expect((input as string).trim()).toBe(email);
    }),
  );

  test("is matched in linear time", () => {
    const startMs = processorMs();
    for (const text of ["a@".repeat(200), `a@${"a.".repeat(200)}!`, `a@${"-".repeat(400)}`]) emailOf(text);
    expect(processorMs() - startMs).toBeLessThan(1_000);
  });
});
