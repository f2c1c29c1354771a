/** True if a text has a letter or a digit, so that there is something to speak. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
