import { speechSlices } from "../../src/domain/speech-slices.ts";
import { visibleText } from "./visible-text.ts";

/** A segment longer than this takes an engine noticeable time; "Dr. Smith called." is one segment. */
const LENGTHS = { longest: 300, shortest: 40 };
/** An engine's time grows with the square of a word's length; no language has words this long. */
const LONGEST_WORD = 40;

/**
 * Cuts a text into segments that an engine can speak one after the other: whole sentences where possible, else at a
 * comma, else at a space; at most 300 characters each. Words of more than 40 letters are split. What {@link visibleText}
 * takes out is not in them. Empty for a text with nothing in it.
 */
export function segments(text: string): string[] {
  // A line that ends without a full stop, such as a title, ends a sentence all the same.
  const clean = splitLongWords(
    visibleText(text)
      .replace(/([^\p{P}\s])\n/gu, "$1. ")
      .replaceAll("\n", " "),
  );
  return [...speechSlices(clean, LENGTHS)].map((segment) => segment.trim()).filter((segment) => segment !== "");
}

function splitLongWords(text: string): string {
  return text.replace(/\S{41,}/gu, (word) => {
    let split = "";
    let letters = 0;
    for (const letter of word) {
      // Accents and joiners stay with the letter that they belong to.
      if (letters >= LONGEST_WORD && !/[\p{M}\p{Cf}]/u.test(letter)) {
        split += " ";
        letters = 0;
      }
      split += letter;
      letters++;
    }
    return split;
  });
}
