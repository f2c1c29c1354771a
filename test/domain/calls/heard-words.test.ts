import * as fc from "fast-check";
import { expect, test } from "vitest";
import { heardWords } from "../../../src/domain/calls/heard.ts";
import { fuzz } from "../../support/fuzz.ts";

test.for([
  [0, 1_000, ""],
  [400, 1_000, "one"],
  [700, 1_000, "one two"],
  [1_000, 1_000, "one two three"],
  [2_000, 1_000, "one two three"],
  [100, 0, ""],
] as const)("%i of %i ms are the words %j", ([heardMs, totalMs, words]) => {
  expect(heardWords("one two three", heardMs, totalMs)).toBe(words);
});

test("the words of an unfinished rendering are estimated", () => {
  expect(heardWords("one two three", 400)).toBe("one");
});

fuzz(
  "the heard words are always the beginning of the text",
  fc.property(fc.string(), fc.nat(5_000), fc.nat(5_000), (text, heardMs, totalMs) => {
    expect(text.trimStart().startsWith(heardWords(text, heardMs, totalMs).trimStart())).toBe(true);
  }),
);
