import { speechSlices } from "../../src/domain/spoken-text/speech-slices.ts";

/** Minimum length of a segment, characters. Shorter ones are joined, so "Dr. Smith called." is one segment. */
const MIN_LENGTH = 40;
/** Maximum length of a segment, characters: longer ones take noticeably long. */
const MAX_LENGTH = 300;
/**
 * Maximum length of a word, letters: an engine's time grows with the square of the length, and no language has longer
 * words.
 */
const MAX_WORD = 40;

/**
 * Splits text into segments that an engine speaks in order: at sentence ends if possible, otherwise at a comma,
 * otherwise at a space. Words of more than 40 letters are split. The segments have only the characters that {@link
 * spokenSegment} keeps. Empty text has no segments.
 * @param maxLength maximum length of a segment, characters. Default: 300
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
      // Accents and joiners stay with their letters.
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
 * The text without characters that an engine could interpret as a command: control characters (including NUL and all
 * kinds of line breaks), lone surrogates, private and unassigned code points, and directional marks. Each run of these
 * and of white space becomes one line break if it contains one, otherwise one space.
 */
export function spokenSegment(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028-\u202e\u2066-\u2069\ufeff\s]+/gu, (run) =>
      /[\n\r\u2028\u2029]/.test(run) ? "\n" : " ",
    )
    .trim();
}
