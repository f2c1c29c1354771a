/** Where the spaces and tabs that begin at this place end (LWS of RFC 3261 section 25.1, once unfolded). */
export function skipLws(text: string, at: number): number {
  let next = at;
  while (next < text.length && isLws(text.charCodeAt(next))) next++;
  return next;
}

/** The text without spaces and tabs at both ends; other white space stays. Linear, unlike `[ \t]+$`. */
export function trimLws(text: string): string {
  const from = skipLws(text, 0);
  let to = text.length;
  while (to > from && isLws(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isLws(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
