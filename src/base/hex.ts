const HEX_PAIRS: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Eight hex digits of the lowest 32 bits; a number's own `toString(16)` takes ten times as long. */
export function hex32(value: number): string {
  return `${HEX_PAIRS[value >>> 24]}${HEX_PAIRS[(value >>> 16) & 255]}${HEX_PAIRS[(value >>> 8) & 255]}${HEX_PAIRS[value & 255]}`;
}

/** Two lower-case hex digits for each byte. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX_PAIRS[byte];
  return text;
}

/** The bytes of lower-case or upper-case hex digits, two for each; anything else becomes 0. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: text.length >> 1 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

/** A unique key: 128 random bits as hex. Pages over plain HTTP have no `crypto.randomUUID`. */
export function randomKey(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)));
}
