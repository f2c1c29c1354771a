const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"];
const VALUES: Int8Array = new Int8Array(128).fill(-1);
for (const [value, char] of LETTERS.entries()) VALUES[char.charCodeAt(0)] = value;

/** The text after an optional `data:…;base64,` prefix. */
export function withoutDataPrefix(text: string): string {
  if (!text.startsWith("data:")) return text;
  const comma = text.indexOf(",");
  return comma > 0 && comma < 256 && text.slice(0, comma).endsWith(";base64") ? text.slice(comma + 1) : text;
}

/** Length of the decoded Base64 text, bytes; only meaningful for well-formed text. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return Math.floor(text.length / 4) * 3 - padding;
}

/** Decodes strict Base64 (RFC 4648 §4: padded, no line breaks, no stray bits); returns undefined for any other text. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const length = text.length;
  if (length % 4 !== 0) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const out = new Uint8Array((length / 4) * 3 - padding);
  let at = 0;
  let invalid = 0;
  const wholeLength = padding === 0 ? length : length - 4;
  for (let i = 0; i < wholeLength; i += 4) {
    const word = (digit(text, i) << 18) | (digit(text, i + 1) << 12) | (digit(text, i + 2) << 6) | digit(text, i + 3);
    invalid |= word; // an invalid character is -1, which makes the result negative
    out[at++] = word >> 16;
    out[at++] = word >> 8;
    out[at++] = word;
  }
  if (padding > 0) {
    const a = digit(text, wholeLength);
    const b = digit(text, wholeLength + 1);
    const c = padding === 1 ? digit(text, wholeLength + 2) : 0;
    const strayBits = padding === 1 ? c & 3 : b & 15;
    if (strayBits !== 0) return undefined;
    invalid |= a | b | c;
    out[at++] = (a << 2) | (b >> 4);
    if (padding === 1) out[at++] = (b << 4) | (c >> 2);
  }
  return invalid < 0 ? undefined : out;
}

function digit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? VALUES[code]! : -1;
}

/** Characters for each value of twelve bits. */
const PAIRS: readonly string[] = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

/** Writes Base64 (RFC 4648 §4, padded). */
export function encodeBase64(bytes: Uint8Array): string {
  const wholeLength = bytes.length - (bytes.length % 3);
  let text = "";
  for (let i = 0; i < wholeLength; i += 3) {
    const word = (bytes[i]! << 16) | (bytes[i + 1]! << 8) | bytes[i + 2]!;
    text += PAIRS[word >> 12]! + PAIRS[word & 0xfff]!;
  }
  if (wholeLength === bytes.length) return text;
  const [first = 0, second] = bytes.subarray(wholeLength);
  if (second === undefined) return `${text + PAIRS[first << 4]!}==`;
  return `${text + PAIRS[(first << 4) | (second >> 4)]! + LETTERS[(second & 15) << 2]!}=`;
}
