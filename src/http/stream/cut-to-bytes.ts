/** The longest beginning of a text that fits into this number of UTF-8 bytes; it never ends within a character. */
export function cutToBytes(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}
