import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type IdPrefix, idSource, idTime, isId } from "../../src/base/ids.ts";
import { fuzz } from "../support/fuzz.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const fillRandom = (bytes: Uint8Array) => void crypto.getRandomValues(bytes);

/** The UUID inside a TypeID, according to the TypeID specification 0.3: base32 as one number. */
function uuidOf(id: string): { ms: number; version: number; variant: number; counter: number } {
  const tail = id.slice(id.indexOf("_") + 1);
  const value = [...tail].reduce((sum, char) => sum * 32n + BigInt(ALPHABET.indexOf(char)), 0n);
  return {
    ms: Number(value >> 80n),
    version: Number((value >> 76n) & 0xfn),
    counter: Number((value >> 64n) & 0xfffn),
    variant: Number((value >> 62n) & 3n),
  };
}

describe("ids", () => {
  test("are TypeIDs over a UUIDv7 of their time", () => {
    const now = Date.UTC(2026, 4, 17, 9, 30);
    const id = idSource(() => now, fillRandom)("call");
    expect(id).toMatch(/^call_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(uuidOf(id)).toMatchObject({ ms: now, version: 7, variant: 2 });
  });

  test("agree with the example of the TypeID specification", () => {
    const bytes = "01890a5d-ac96-774b-bcce-b302099a8057"
      .replaceAll("-", "")
      .match(/../g)!
      .map((hex) => Number(`0x${hex}`));
    const id = idSource(
      () => 0x01890a5dac96,
      (target) => target.set(bytes),
    )("usr");
    // The counter uses eleven of the twelve bits of rand_a; the example's value fits in those.
    expect(id).toBe("usr_01h455vb4pex5vsknk084sn02q");
  });

  test("are unique and sort in order of creation within a millisecond", () => {
    let now = 1_767_225_600_000;
    const next = idSource(() => now, fillRandom);
    const ids: string[] = [];
    for (let i = 0; i < 100_000; i++) {
      if (i % 20_000 === 0) now++;
      ids.push(next("evt"));
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id, i) => i === 0 || id > ids[i - 1]!)).toBe(true);
    expect(uuidOf(ids.at(-1)!).ms - now).toBeLessThan(100); // the overflow was borrowed from the following milliseconds
  });

  test("continue upwards when the clock is set back", () => {
    let now = 2_000_000;
    const next = idSource(() => now, fillRandom);
    const before = next("evt");
    now = 1_000_000;
    expect(next("evt") > before).toBe(true);
  });

  test.each([
    ["of now", Date.UTC(2026, 0, 1)],
    ["of the year 3000", Date.UTC(3000, 0, 1)],
    ["of the year 9999", Date.UTC(9999, 11, 31)],
  ])("sort after a stored id %s, although the clock was set back", (_, storedAt) => {
    const storedId = idSource(() => storedAt, fillRandom)("evt");
    const next = idSource(() => Date.UTC(2025, 0, 1), fillRandom);
    next.startAfter(storedId);
    const ids = Array.from({ length: 10_000 }, () => next("evt"));
    expect([storedId, ...ids].toSorted()).toEqual([storedId, ...ids]);
    expect(ids.every((id) => isId("evt", id))).toBe(true);
  });

  test.each(["", "evt_", "evt_7zzzzzzzzzzzzzzzzzzzzzzzzz", "evt_80000000000000000000000000", "2026"])(
    "do not start after %j, which is not an id or leaves no room",
    (storedId) => {
      const next = idSource(() => 5, fillRandom);
      next.startAfter(storedId);
      expect(idTime(next("evt"))).toBe(5);
    },
  );

  test("contain the time of their creation", () => {
    const now = Date.UTC(2026, 4, 17, 9, 30);
    expect(idTime(idSource(() => now, fillRandom)("call"))).toBe(now);
    expect(idTime("call_unknown")).toBeUndefined();
  });

  test("have different random parts, from few requests", () => {
    let requests = 0;
    const next = idSource(
      () => 5,
      (bytes) => {
        requests++;
        fillRandom(bytes);
      },
    );
    const randomParts = Array.from({ length: 256 }, () => next("evt").slice(-12));
    expect(new Set(randomParts).size).toBe(256);
    expect(requests).toBeLessThanOrEqual(256 / 32);
  });

  test("share one order across prefixes", () => {
    const next = idSource(() => 5, fillRandom);
    const [a, b] = [next("call"), next("evt")];
    expect(a.slice(5) < b.slice(4)).toBe(true);
  });
});

describe("an id's form", () => {
  const id = idSource(Date.now, fillRandom)("inst");
  test.each([
    ["its own", id, true],
    ["another prefix", id.replace("inst", "call"), false],
    ["nothing", "", false],
    ["only a prefix", "inst_", false],
    ["too short", id.slice(0, -1), false],
    ["too long", `${id}0`, false],
    ["a line break", `${id.slice(0, -1)}\n`, false],
    ["capital letters", id.toUpperCase(), false],
    ["a letter that base32 leaves out", `${id.slice(0, -1)}u`, false],
    ["more than 128 bits", `inst_8${id.slice(6)}`, false],
  ])("%s", (_, text, expected) => {
    expect(isId("inst", text)).toBe(expected);
  });
});

fuzz(
  "every id from any time is recognised by its prefix",
  fc.property(
    fc.constantFrom<IdPrefix>("inst", "call", "evt", "tok", "usr", "node"),
    fc.integer({ min: 1, max: 2 ** 47 }),
    fc.uint8Array({ minLength: 16, maxLength: 16 }),
    (prefix, ms, random) => {
      const id = idSource(
        () => ms,
        (bytes) => bytes.set(random),
      )(prefix);
      expect(isId(prefix, id)).toBe(true);
      expect(uuidOf(id)).toMatchObject({ ms, version: 7, variant: 2 });
    },
  ),
);
