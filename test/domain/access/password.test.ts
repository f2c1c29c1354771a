import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { COMMON_PASSWORDS } from "../../../src/domain/access/common-passwords.ts";
import { checkedPassword, passwordOf } from "../../../src/domain/access/password.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";

const EMAIL = "Ana.Long@example.com";

describe("a password", () => {
  test.each([
    "correct horse",
    "☎".repeat(10),
    "x".repeat(256),
    "🦄".repeat(256),
    "          ",
    "日本語のパスワードです。",
  ])("can be %j", (password) => expect(checkedPassword(password, EMAIL)).toBe(password.normalize("NFKC")));

  test.each([
    "",
    "x".repeat(9),
    "🦄".repeat(9),
    "x".repeat(257),
    "x".repeat(1_000_000),
    `half a pair \ud800`,
    "ana.long@EXAMPLE.com",
    null,
    1_234_567_890,
    ["correct horse"],
  ])("is not %j", (input) => {
    let message = "";
    try {
      checkedPassword(input, EMAIL);
    } catch (error) {
      message = (error as Error).message;
      expect(error).toMatchObject({ code: "password_invalid" });
    }
    expect(message).not.toBe("");
    if (typeof input === "string" && input !== "") expect(message).not.toContain(input);
  });

  test.each(["1234567890", "PassWord123", "qwertyuiop", "１２３４５６７８９０"])("is too common as %j", (input) => {
    expect(() => checkedPassword(input, EMAIL)).toThrow(
      expect.objectContaining({ code: "password_common", message: expect.not.stringContaining(input) }),
    );
  });

  test("is compared with 3,000 common ones that are otherwise allowed", () => {
    expect(COMMON_PASSWORDS.size).toBe(3_000);
    for (const common of COMMON_PASSWORDS) {
      expect(passwordOf(common)).toBe(common);
      expect(common.toLowerCase()).toBe(common);
    }
  });

  fuzz(
    "has one form, however its characters are composed",
    fc.property(fc.string({ minLength: 10, maxLength: 40 }), (text) => {
      const forms = ["NFC", "NFD", "NFKC"].map((form) => passwordOf(text.normalize(form)));
      expect(new Set(forms).size).toBe(1);
      const [password] = forms;
      if (password !== undefined) expect(passwordOf(password)).toBe(password);
    }),
  );

  fuzz(
    "is read from any value without a crash, and has 10 to 256 characters",
    fc.property(fc.oneof(fc.string({ unit: CODE_POINT, maxLength: 600 }), fc.anything()), (input) => {
      const password = passwordOf(input);
      if (password === undefined) return;
      expect([...password].length).toBeGreaterThanOrEqual(10);
      expect([...password].length).toBeLessThanOrEqual(256);
    }),
  );
});
