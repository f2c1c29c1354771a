/**
 * The text without characters that an engine could take for a command: control characters (NUL and line breaks of all
 * kinds included), lone surrogates, private and unassigned code points, and marks of direction. Each run of them and of
 * white space becomes one line break if it contains one, else one space.
 */
export function visibleText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028-\u202e\u2066-\u2069\ufeff\s]+/gu, (run) =>
      /[\n\r\u2028\u2029]/.test(run) ? "\n" : " ",
    )
    .trim();
}
