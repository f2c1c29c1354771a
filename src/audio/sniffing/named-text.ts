/** Text in place of audio, and the fix for its sender. */
export interface NamedText {
  readonly name: string;
  readonly fix: string;
}

const JSON_TEXT: NamedText = {
  name: "text (JSON)",
  fix: "send JSON as text messages, and only audio as binary messages",
};
const HTML_TEXT: NamedText = { name: "text (HTML or XML)", fix: "check the response of your audio source" };
const HTTP_TEXT: NamedText = { name: "an HTTP response", fix: "send its body, and check its status first" };
const BASE64_TEXT: NamedText = { name: "Base64 text", fix: "decode it before you send it" };
const PLAIN_TEXT: NamedText = { name: "text", fix: "check the response of your audio source" };

/** Number of leading bytes that are checked. */
const MAX_BYTES = 512;
/** Shortest message that can be plain text or Base64, bytes. */
const MIN_PLAIN_BYTES = 32;
const MIN_BASE64_BYTES = 128;
const MIN_BASE64_LETTERS = 24;
const MIN_WORDS = 4;
/** Limits for a short first message of a stream. */
const MIN_FIRST_BYTES = 12;
const MIN_FIRST_WORDS = 2;

const OPENINGS: readonly (readonly [opening: RegExp, text: NamedText])[] = [
  [/^\s*\{\s*"[^"\\\0]{1,64}"\s*:\s*["{[\d\-tfn]/, JSON_TEXT],
  [/^\s*\[\s*\{\s*"[^"\\\0]{1,64}"\s*:/, JSON_TEXT],
  [/^\s*\[\s*-?\d+(\.\d+)?(e[+-]?\d+)?(\s*,\s*-?\d+(\.\d+)?(e[+-]?\d+)?){4}/i, JSON_TEXT],
  [/^data:[a-z]{4,20}\/[a-z0-9.+-]{1,40}[;,]/, BASE64_TEXT],
  [/^\s*(data|event): ?[[{a-z]{1,200}/, { ...PLAIN_TEXT, name: "text (server-sent events)" }],
  [/^\s*<(!doctype |html|head|body|error|\?xml |svg )[^\0]{6}/i, HTML_TEXT],
  [/^HTTP\/[12]\.[01] \d{3}/, HTTP_TEXT],
];

/**
 * The kind of text that a message consists of; undefined unless it is certain. Samples practically never look like it.
 * Checks only the start, in constant time.
 * @param isFirst true for the first message of a stream, where two words are enough
 */
export function namedText(message: Uint8Array, isFirst = false): NamedText | undefined {
  const start = message[0] === 0xef && message[1] === 0xbb && message[2] === 0xbf ? 3 : 0;
  const bytes = message.subarray(start, start + MAX_BYTES);
  // Most messages with samples end here.
  for (let i = 0; i < Math.min(bytes.length, 8); i++) if (!isPrintable(bytes[i]!)) return undefined;
  if (!bytes.every((byte) => isPrintable(byte) || byte >= 0x80)) return undefined;
  const text = decodeUtf8(bytes, message.length > start + bytes.length);
  if (text === undefined) return undefined;
  const match = OPENINGS.find(([opening]) => opening.test(text))?.[1];
  if (match !== undefined) return match;
  if (isBase64(text)) return BASE64_TEXT;
  const isShort = isFirst && message.length < MAX_BYTES;
  const isText = isShort ? isPlain(text, MIN_FIRST_BYTES, MIN_FIRST_WORDS) : isPlain(text, MIN_PLAIN_BYTES, MIN_WORDS);
  return isText ? PLAIN_TEXT : undefined;
}

/** True for printable ASCII, a tab or a line break. */
function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** The bytes decoded as UTF-8; undefined if invalid. A partial message may be cut within a character. */
function decodeUtf8(bytes: Uint8Array, isPartial: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isPartial });
  } catch {
    return undefined;
  }
}

function isBase64(text: string): boolean {
  if (text.length < MIN_BASE64_BYTES || !/^[\w+/-]+(\r?\n[\w+/-]+)*={0,2}\s*$/.test(text)) return false;
  return /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text) && new Set(text).size >= MIN_BASE64_LETTERS;
}

/** True for words: letters with single spaces between them. */
function isPlain(text: string, minLength: number, minWords: number): boolean {
  if (text.length < minLength || !/^[\w"'([*#-]/.test(text)) return false;
  const words = text.match(/(?<=^| )[\p{L}'’-]{2,30}[,.:;!?]?(?= |$)/gu) ?? [];
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  return words.length >= minWords && letters > text.length / 2 && /[a-z]{3}/.test(text);
}
