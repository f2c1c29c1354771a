import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Sentences } from "../../../adapters/agent/cascade/sentences.ts";
import { fuzz } from "../../support/fuzz.ts";

function sentencesOf(...pieces: readonly string[]): string[] {
  const sentences = new Sentences();
  const completeSentences = pieces.flatMap((piece) => sentences.push(piece));
  const lastSentence = sentences.finish();
  return lastSentence === undefined ? completeSentences : [...completeSentences, lastSentence];
}

describe("text that arrives in pieces", () => {
  test.for([
    [
      ["Hel", "lo. How", " are you? ", "Fine"],
      ["Hello.", "How are you?", "Fine"],
    ],
    [["It is 10.30 with Dr. Lima. Come!"], ["It is 10.30 with Dr. Lima.", "Come!"]],
    [["Good morning, this is the clinic, and I call you"], ["Good morning, this is the clinic,", "and I call you"]],
    [["Short. And then, after that, one whole sentence."], ["Short.", "And then, after that, one whole sentence."]],
    [["First\nsecond"], ["First", "second"]],
    [["你好。再见。"], ["你好。", "再见。"]],
    [["... !? "], []],
  ] as const)("%j is cut into %j", ([pieces, expectedSentences]) => {
    expect(sentencesOf(...pieces)).toEqual(expectedSentences);
  });

  test("is cut between words if no sentence ends", () => {
    const pieces = sentencesOf("word ".repeat(200));
    expect(pieces.every((piece) => piece.length <= 300 && !piece.startsWith("ord"))).toBe(true);
    expect(pieces.join(" ")).toBe("word ".repeat(200).trim());
  });

  fuzz(
    "loses no letter, however it is cut",
    fc.property(fc.array(fc.string({ maxLength: 30 }), { maxLength: 30 }), (pieces) => {
      const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, "");
      expect(letters(sentencesOf(...pieces).join(""))).toBe(letters(pieces.join("")));
    }),
  );
});
