/** Length of a character at a usual pace, ms: for a text whose length is not known yet. */
const CHARACTER_MS = 65;

/**
 * The words of a text that were heard before it was interrupted: whole words, as many as their share of its length.
 * @param heardMs how much of it was played
 * @param textMs how long all of it is; undefined if that is not known yet
 */
export function heardWords(text: string, heardMs: number, textMs = text.length * CHARACTER_MS): string {
  if (heardMs <= 0 || textMs <= 0) return "";
  if (heardMs >= textMs) return text;
  const head = text.slice(0, Math.floor((text.length * heardMs) / textMs));
  return head.slice(0, Math.max(0, head.search(/\s\S*$/))).trim();
}
