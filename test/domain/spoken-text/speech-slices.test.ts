import * as fc from "fast-check";
import { expect, test } from "vitest";
import { speechSlices } from "../../../src/domain/spoken-text/speech-slices.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";

const LENGTHS = { maxLength: 300, minLength: 150, firstMinLength: 40 };
const slices = (text: string) => [...speechSlices(text, LENGTHS)];

test("slices are complete sentences, a short one first", () => {
  const sentence = "Dr. Smith has called at 10:30 and asks for 3.50 of it. ";
  const sliceList = slices(sentence.repeat(10));
  expect(sliceList[0]).toBe(sentence);
  for (const slice of sliceList.slice(1, -1)) expect(slice).toBe(sentence.repeat(3));
});

test("an endless sentence is cut at a comma, otherwise between words", () => {
  const clause = `${"word ".repeat(50).trim()}, `;
  expect(slices(clause.repeat(2))[0]).toBe(clause);
  for (const slice of slices("word ".repeat(300))) expect(slice).toMatch(/^(word )+$/);
});

test("sentences of other scripts are found without a space between them", () => {
  expect(slices(`${"今天天气很好".repeat(10)}。${"我们去公园散步".repeat(10)}。`)).toHaveLength(2);
});

fuzz(
  "slices together are the text, and none is longer than the limit",
  fc.property(fc.string({ unit: CODE_POINT, maxLength: 2_000 }), (text) => {
    const sliceList = slices(text);
    expect(sliceList.join("")).toBe(text);
    for (const slice of sliceList) {
      expect(slice.length).toBeGreaterThan(0);
      expect(slice.length).toBeLessThanOrEqual(300);
      expect(slice).not.toMatch(/\p{Cs}/u);
    }
  }),
);
