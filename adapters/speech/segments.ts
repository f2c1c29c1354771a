import { visibleText } from "./visible-text.ts";

/** A segment longer than this takes an engine noticeable time in one piece. */
const LONGEST_SEGMENT = 300;
/** Shorter sentences are spoken with the one after them: "Dr. Smith called." is one segment. */
const SHORTEST_SEGMENT = 40;
/** An engine's time grows with the square of a word's length; no language has words this long. */
const LONGEST_WORD = 40;

const SENTENCE = /[^.!?…。！？।]+(?:[.!?…。！？।]+["'”’)\]]*(?:\s+|$)|[.!?…。！？।]+|$)|[.!?…。！？।]+\s*/gu;

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
  const found: string[] = [];
  let open = "";
  for (const sentence of clean.match(SENTENCE) ?? []) {
    if (open !== "" && open.length + sentence.length > LONGEST_SEGMENT) {
      found.push(open);
      open = "";
    }
    open += sentence;
    while (open.length > LONGEST_SEGMENT) {
      const at = breakBefore(open, LONGEST_SEGMENT);
      found.push(open.slice(0, at));
      open = open.slice(at);
    }
    if (open.trim().length >= SHORTEST_SEGMENT) {
      found.push(open);
      open = "";
    }
  }
  found.push(open);
  return found.map((segment) => segment.trim()).filter((segment) => segment !== "");
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

/** Where to cut a long segment: after the last comma, or the last space, in its second half; else at `limit`. */
function breakBefore(text: string, limit: number): number {
  const head = text.slice(0, limit);
  for (const pattern of [/[,;:،、，；：–—]\s?(?=[^,;:،、，；：–—]*$)/u, /\s(?=\S*$)/u]) {
    const match = pattern.exec(head);
    if (match && match.index >= limit / 2) return match.index + match[0].length;
  }
  const last = head.charCodeAt(limit - 1);
  return last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit;
}
