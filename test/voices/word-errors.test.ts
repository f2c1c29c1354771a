import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzz } from "../support/fuzz.ts";
import { editDistance, wordErrorRate, wordErrors, wordsOf } from "./word-errors.ts";

const word = fc.constantFrom("a", "b", "c", "d");
const words = fc.array(word, { maxLength: 8 });

describe("word errors", () => {
  it.each([
    ["the same words", "on monday please", "on monday please", 3, 0],
    ["case and punctuation", "On Monday, please!", "on monday please", 3, 0],
    ["an apostrophe", "We don’t know.", "we don't know", 3, 0],
    ["accents in another form", "amanhã", "amanha\u0303", 1, 0],
    ["a wrong word", "on monday please", "on sunday please", 3, 1],
    ["a missing word", "on monday please", "on please", 3, 1],
    ["an extra word", "on monday please", "on monday the please", 3, 1],
    ["a missing accent", "amanhã cedo", "amanha cedo", 2, 1],
    ["two words in another order", "monday on", "on monday", 2, 2],
    ["nothing heard", "on monday please", "", 3, 3],
    ["more heard than said", "yes", "yes that is right", 1, 3],
  ])("are counted: %s", (_, said, heard, count, errors) => {
    expect(wordErrors(said, heard)).toEqual({ words: count, errors });
  });

  it("of several texts weigh each word alike", () => {
    expect(
      wordErrorRate([
        { words: 9, errors: 0 },
        { words: 1, errors: 1 },
      ]),
    ).toBe(0.1);
    expect(wordErrorRate([])).toBe(0);
  });

  it("are counted in words without punctuation, digits included", () => {
    expect(wordsOf(" «¿Qué?» — a-b, 25 ")).toEqual(["qué", "a", "b", "25"]);
  });
});

describe("the edit distance", () => {
  fuzz(
    "is 0 only for the same words",
    fc.property(words, words, (a, b) => {
      expect(editDistance(a, a)).toBe(0);
      if (a.join() !== b.join()) expect(editDistance(a, b)).toBeGreaterThan(0);
    }),
  );

  fuzz(
    "is the same in both directions",
    fc.property(words, words, (a, b) => {
      expect(editDistance(a, b)).toBe(editDistance(b, a));
    }),
  );

  fuzz(
    "satisfies the triangle inequality",
    fc.property(words, words, words, (a, b, c) => {
      expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
    }),
  );

  fuzz(
    "is between the difference of the lengths and the longer length",
    fc.property(words, words, (a, b) => {
      const distance = editDistance(a, b);
      expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );

  fuzz(
    "grows by at most one for each word that is replaced, added or removed",
    fc.property(words, fc.array(fc.tuple(fc.nat(8), fc.nat(2), word), { maxLength: 4 }), (a, edits) => {
      const edited = [...a];
      for (const [at, removed, added] of edits)
        edited.splice(at, Math.min(removed, 1), ...(removed < 2 ? [added] : []));
      expect(editDistance(a, edited)).toBeLessThanOrEqual(edits.length);
    }),
  );
});
