import { namedText } from "./named-text.ts";

/** The beginning of text in place of audio. */
export interface TextOpening {
  /** Kind of the text, such as `text (JSON)`. */
  readonly name: string;
  /** First letters of the text, to be quoted. */
  readonly quote: string;
}

/** Number of bytes that prove text: loud samples may look like letters, but not this many in a row. */
export const TEXT_BYTES = 64;
/** Number of bytes checked; all must be text. */
const MAX_BYTES = 4096;
/** Minimum share of ASCII in text in another encoding. */
const MIN_ASCII = 0.8;
/** Maximum number of characters quoted from a text. */
const MAX_QUOTE = 120;

/**
 * The text at the start of these bytes, if they can be text: UTF-8, UTF-16 with a mark, or mostly ASCII, without
 * control characters. Only for bytes that would be a whole file otherwise; samples need {@link namedText}.
 */
export function textOpening(bytes: Uint8Array): TextOpening | undefined {
  const beginning = bytes.subarray(0, MAX_BYTES);
  const utf16 = wideEncoding(beginning);
  const text = decodeText(beginning, utf16 ?? "utf-8") ?? (utf16 === undefined ? mostlyAscii(beginning) : undefined);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: texts do not contain them
  if (text === undefined || /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ufffd]/.test(text)) return undefined;
  if (utf16 !== undefined && text.length * MIN_ASCII > text.replace(/[^ -~\s]/g, "").length) return undefined;
  const trimmedText = text.trim();
  if (trimmedText === "") return undefined; // quiet samples can look like spaces
  return { name: namedText(bytes, true)?.name ?? kindOf(trimmedText), quote: trimmedText.slice(0, MAX_QUOTE) };
}

function wideEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

function decodeText(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/** Text in an encoding such as Latin-1. */
function mostlyAscii(bytes: Uint8Array): string | undefined {
  if (bytes.length < TEXT_BYTES) return undefined;
  const ascii = bytes.reduce((count, byte) => count + (byte >= 0x20 && byte < 0x7f ? 1 : 0), 0);
  return ascii > MIN_ASCII * bytes.length ? String.fromCharCode(...bytes.subarray(0, TEXT_BYTES)) : undefined;
}

function kindOf(text: string): string {
  if (text.startsWith("<")) return "text (HTML or XML)";
  return /^[{["]/.test(text) ? "text (JSON)" : "text";
}
