import { comparable } from "../../base/comparable.ts";

/** Maximum length of a text that is searched, characters. */
const MAX_TEXT = 2_000;

/**
 * A search for phrases, which are written without accents and in lower case; `…` stands for up to four words, `(a|b)`
 * for either. The returned function is true for a text that contains any of them.
 */
export function phraseSearch(phrases: readonly string[]): (text: string) => boolean {
  const alternatives = phrases.map((phrase) => phrase.replaceAll(" … ", "(?: [^ ]+){0,4} "));
  const pattern = new RegExp(`(?:^| )(?:${alternatives.join("|")})(?: |$)`);
  return (text) => pattern.test(comparable(text.slice(0, MAX_TEXT)));
}
