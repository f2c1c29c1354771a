/** The beginning of a text that fits into so many bytes of UTF-8, without half a character at its end. */
export function cutToBytes(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}
