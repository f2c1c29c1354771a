const HEX = "0123456789ABCDEF";

/**
 * Decodes `%41` and the like as UTF-8, once (RFC 3986 section 2.4). A percent sign without two hex digits stays; invalid
 * UTF-8 becomes U+FFFD.
 */
export function readEscapes(text: string): string {
  if (!text.includes("%")) return text;
  const bytes = new TextEncoder().encode(text);
  let to = 0;
  for (let at = 0; at < bytes.length; at++, to++) {
    const high = bytes[at] === 0x25 ? digit(bytes[at + 1]) : -1;
    const low = high < 0 ? -1 : digit(bytes[at + 2]);
    bytes[to] = low < 0 ? (bytes[at] as number) : high * 16 + low;
    if (low >= 0) at += 2;
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, to));
}

/** The text as UTF-8, with an escape for each byte except letters, digits, `-_.!~*'()` and the allowed characters. */
export function escapeAllBut(allowed: string, text: string): string {
  if (/^[\w\-.!~*'()]*$/.test(text)) return text;
  let escaped = "";
  for (const byte of new TextEncoder().encode(text)) {
    const character = String.fromCharCode(byte);
    const plain = byte < 0x80 && (/[\w\-.!~*'()]/.test(character) || allowed.includes(character));
    escaped += plain ? character : `%${HEX[byte >> 4]}${HEX[byte & 15]}`;
  }
  return escaped;
}

function digit(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
