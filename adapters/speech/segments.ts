import { speechSlices } from "../../src/domain/spoken-text/speech-slices.ts";

/** Minimum length of a segment, characters. Shorter ones are joined, so "Dr. Smith called." is one segment. */
const MIN_LENGTH = 40;
/** Maximum length of a segment, characters: longer ones take noticeable time. */
const MAX_LENGTH = 300;
/**
 * Maximum length of a word, letters: an engine's time grows with the square of it, and no language has longer words.
 */
const MAX_WORD = 40;

/**
 * Splits a text into segments that an engine speaks in order: at the ends of sentences if possible, otherwise at a
 * comma, otherwise at a space. Words of more than 40 letters are split. The segments have only the characters that
 * {@link spokenSegment} keeps. An empty text has no segments.
 * @param maxLength characters of a segment. Default: 300
 */
export function segments(text: string, maxLength = MAX_LENGTH): string[] {
  // A line without a full stop, such as a title, also ends a sentence.
  const cleanText = splitLongWords(
    spokenSegment(text)
      .replace(/([^\p{P}\s])\n/gu, "$1. ")
      .replaceAll("\n", " "),
  );
  return [...speechSlices(cleanText, { maxLength, minLength: MIN_LENGTH })]
    .map((segment) => segment.trim())
    .filter((segment) => segment !== "");
}

function splitLongWords(text: string): string {
  return text.replace(/\S{41,}/gu, (word) => {
    let result = "";
    let letters = 0;
    for (const letter of word) {
      // Accents and joiners stay with their letter.
      if (letters >= MAX_WORD && !/[\p{M}\p{Cf}]/u.test(letter)) {
        result += " ";
        letters = 0;
      }
      result += letter;
      letters++;
    }
    return result;
  });
}

/**
 * The text without characters that an engine could interpret as a command: control characters (NUL and line breaks of
 * all kinds included), lone surrogates, private and unassigned code points, and marks of direction. Each run of them
 * and of white space becomes one line break if it contains one, otherwise one space.
 */
export function spokenSegment(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028-\u202e\u2066-\u2069\ufeff\s]+/gu, (run) =>
      /[\n\r\u2028\u2029]/.test(run) ? "\n" : " ",
    )
    .trim();
}
