/** Limits of a JSON text. */
export interface JsonBounds {
  /** Maximum nesting of objects and arrays, levels. */
  readonly depth: number;
  /** Maximum number of strings (including keys), objects, arrays and commas, all together. */
  readonly parts: number;
}

/** A parsed body, or the reason why it cannot be parsed. */
export type ParsedJson = { readonly value: unknown } | { readonly fault: string };

/** Parses the bytes of a JSON text. A byte order mark is tolerated (RFC 8259 §8.1 allows it). */
export function parseJson(bytes: Uint8Array, bounds: JsonBounds): ParsedJson {
  const fault = boundsFault(bytes, bounds);
  if (fault) return { fault };
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { fault: "the body is not valid UTF-8" };
  }
  if (text.trim() === "") return { fault: "the request has no body; send a JSON object" };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { fault: "the body is not valid JSON" };
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/**
 * Reason why a text must not be passed to `JSON.parse`; undefined if there is none. Reads each byte once and allocates
 * nothing.
 */
export function boundsFault(bytes: Uint8Array, { depth, parts }: JsonBounds): string | undefined {
  let level = 0;
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at + 1);
        count++;
        break;
      case COMMA:
        count++;
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        if (++level > depth) return `the body is nested deeper than ${depth} levels`;
        count++;
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        level--;
    }
    if (count > parts) return `the body has more than ${parts} keys and values`;
  }
  return undefined;
}

/** Position of the closing quote of a string, or the end of the text. */
function endOfString(bytes: Uint8Array, from: number): number {
  const quote = bytes.indexOf(QUOTE, from);
  if (quote < 0) return bytes.length;
  if (bytes[quote - 1] !== BACKSLASH) return quote;
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
