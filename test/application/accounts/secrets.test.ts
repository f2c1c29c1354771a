import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashOfSecret, makeSecret } from "../../../src/application/accounts/secrets.ts";
import { sha256Hex } from "../../../src/base/sha256.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";

describe("a secret", () => {
  test("has 32 random bytes and a hash", async () => {
    const secrets = await Promise.all(Array.from({ length: 100 }, () => makeSecret(realSystem, sha256Hex)));
    expect(new Set(secrets.map(({ secret }) => secret)).size).toBe(100);
    for (const { secret, hash } of secrets) {
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      expect(await hashOfSecret(secret, sha256Hex)).toBe(hash);
      expect(hash).not.toBe(secret);
    }
  });

  fuzz(
    "is 64 hex digits; other texts are not hashed",
    fc.asyncProperty(fc.oneof(fc.string({ unit: CODE_POINT }), fc.anything()), async (input) => {
      let hashCount = 0;
      const hash = await hashOfSecret(input, (text) => {
        hashCount++;
        return text;
      });
      expect(hash).toBe(typeof input === "string" && /^[0-9a-f]{64}$/.test(input) ? input : undefined);
      expect(hashCount).toBe(hash === undefined ? 0 : 1);
    }),
  );
});
