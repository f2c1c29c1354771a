import { scryptSync } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scryptHasher } from "../../adapters/defaults/scrypt-hasher.ts";
import { CODE_POINT, fuzz } from "../support/fuzz.ts";

const CHEAP_COST = { ln: 4, r: 8, p: 1 };

describe("the runtime's scrypt", () => {
  test("verifies only the password of a hash", async () => {
    const hasher = scryptHasher(CHEAP_COST);
    const hash = await hasher.hash("correct horse");
    expect(await hasher.verify("correct horse", hash)).toBe(true);
    expect(await hasher.verify("correct horsf", hash)).toBe(false);
    expect(await hasher.verify("", hash)).toBe(false);
  });

  test("creates a PHC string with a new salt each time", async () => {
    const hasher = scryptHasher(CHEAP_COST);
    const [first, second] = await Promise.all([hasher.hash("x"), hasher.hash("x")]);
    expect(first).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(first).not.toBe(second);
  });

  test("verifies hashes with other parameters, and reports them as outdated", async () => {
    const hasher = scryptHasher(CHEAP_COST);
    const key = scryptSync("passwd", "salt of another", 32, { N: 2 ** 6, r: 4, p: 2 });
    const text = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
    const hash = `$scrypt$ln=6,r=4,p=2$${text(Buffer.from("salt of another"))}$${text(key)}`;
    expect(await hasher.verify("passwd", hash)).toBe(true);
    expect(hasher.isOutdated(hash)).toBe(true);
    expect(hasher.isOutdated(await hasher.hash("passwd"))).toBe(false);
  });

  test.each([
    undefined,
    "",
    "correct horse",
    "$scrypt$ln=4,r=8,p=1$$",
    "$scrypt$ln=99,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "$scrypt$ln=4,r=0,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  ])("rejects every password against %s", async (hash) => {
    const hasher = scryptHasher(CHEAP_COST);
    expect(await hasher.verify("correct horse", hash)).toBe(false);
    expect(hasher.isOutdated(hash ?? "")).toBe(true);
  });

  const number = fc.integer({ min: -1, max: 9 });
  const salt = fc.base64String({ maxLength: 90 });
  fuzz(
    "verifies no foreign hash, and does not crash",
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: CODE_POINT }),
        fc
          .tuple(number, number, number, salt, salt)
          .map(([ln, r, p, a, b]) => `$scrypt$ln=${ln},r=${r},p=${p}$${a}$${b}`),
      ),
      async (hash) => {
        expect(await scryptHasher(CHEAP_COST).verify("correct horse", hash)).toBe(false);
      },
    ),
  );

  test("takes as long without a hash as with one, at OWASP's cost", async () => {
    const hasher = scryptHasher();
    const hash = await hasher.hash("correct horse");
    expect(hash).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$/);
    const elapsedMs = async (work: () => Promise<boolean>): Promise<number> => {
      const startedAt = performance.now();
      await work();
      return performance.now() - startedAt;
    };
    const knownMs = await elapsedMs(() => hasher.verify("wrong horse", hash));
    const unknownMs = await elapsedMs(() => hasher.verify("wrong horse", undefined));
    // The limits are wide enough for a busy machine; without hashing it would take less than a millisecond.
    expect(unknownMs).toBeGreaterThan(knownMs / 5);
    expect(knownMs).toBeGreaterThan(unknownMs / 5);
  });

  test("hashes two at a time, queues 32, and refuses more", async () => {
    const hasher = scryptHasher(CHEAP_COST, 2);
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => hasher.hash("correct horse")));
    const refusalCodes = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
    expect(refusalCodes).toEqual(Array.from({ length: 16 }, () => "hasher_busy"));
    expect(await hasher.verify("correct horse", await hasher.hash("correct horse"))).toBe(true);
  });

  test("hashes for known users before strangers, whose queue is separate", async () => {
    const hasher = scryptHasher(CHEAP_COST, 1);
    const order: string[] = [];
    const strangers = Array.from({ length: 40 }, () =>
      hasher.hash("correct horse").then(
        () => order.push("stranger"),
        () => order.push("refused"),
      ),
    );
    await hasher.hash("correct horse", "known").then(() => order.push("known"));
    await Promise.all(strangers);
    expect(order.filter((entry) => entry === "refused")).toHaveLength(7);
    // The running hash ends first.
    expect(order.filter((entry) => entry !== "refused").indexOf("known")).toBe(1);
    expect(order.filter((entry) => entry === "stranger")).toHaveLength(33);
  });
});
