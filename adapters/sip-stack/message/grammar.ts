import { type System, toHex } from "../ports.ts";

// Basic rules of SIP's grammar (RFC 3261 section 25.1): tokens, white space, quoted strings, numbers and lists.

const TOKEN = /^[-A-Za-z0-9.!%*_+`'~]+$/;

/** True if the text is a token: the form of method, field and parameter names. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The index after the spaces and tabs at `at`: LWS in an unfolded line. */
export function skipLws(text: string, at: number): number {
  let next = at;
  while (next < text.length && isLws(text.charCodeAt(next))) next++;
  return next;
}

/** The text without spaces and tabs at both ends; other white space stays. Takes linear time, unlike `[ \t]+$`. */
export function trimLws(text: string): string {
  const from = skipLws(text, 0);
  let end = text.length;
  while (end > from && isLws(text.charCodeAt(end - 1))) end--;
  return text.slice(from, end);
}

function isLws(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** A parsed quoted string. */
interface QuotedString {
  /** The text without the quotes and the backslashes. */
  readonly value: string;
  /** The index after the closing quote. */
  readonly end: number;
}

/** Reads the quoted string whose opening quote is at `at`; undefined without a closing quote. */
export function readQuotedString(text: string, at: number): QuotedString | undefined {
  if (text[at] !== '"') return undefined;
  let value = "";
  let from = at + 1;
  for (let next = from; next < text.length; next++) {
    const character = text[next];
    if (character === '"') return { value: value + text.slice(from, next), end: next + 1 };
    if (character !== "\\") continue;
    value += text.slice(from, next);
    from = ++next;
  }
  return undefined;
}

/** The text in quotes; quotes and backslashes are escaped. */
export function writeQuotedString(value: string): string {
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** Reads delta-seconds, or another decimal number of at most 32 bits. */
export function parseUint32(text: string | undefined): number | undefined {
  const match = /^\s*(\d+)\s*$/.exec(text ?? "");
  const value = Number(match?.[1]);
  return value <= 0xffff_ffff ? value : undefined;
}

/** The trimmed elements of a comma-separated list; commas in quotes and in `<…>` do not count. Takes linear time. */
export function splitList(text: string): string[] {
  const elements: string[] = [];
  let from = 0;
  let inQuotes = false;
  let inBrackets = false;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (inQuotes) {
      if (character === "\\") at++;
      else if (character === '"') inQuotes = false;
      if (at < text.length) continue;
    }
    if (character === '"') inQuotes = true;
    else if (character === "<") inBrackets = true;
    else if (character === ">") inBrackets = false;
    else if (at >= text.length || (character === "," && !inBrackets)) {
      const element = trimLws(text.slice(from, at));
      if (element !== "") elements.push(element);
      from = at + 1;
    }
  }
  return elements;
}

/** Parameters `;name=value` (RFC 3261 section 7.3.1): names in lower case, in order; a missing value is an empty one. */
export type SipParams = ReadonlyMap<string, string>;

export const NO_PARAMS: SipParams = new Map();

/**
 * Reads the parameters from `from` to the end of the text; returns undefined if it is malformed. The first of several
 * parameters with the same name is used; a trailing semicolon is ignored.
 */
export function parseParams(text: string, from = 0): SipParams | undefined {
  let at = skipLws(text, from);
  if (at >= text.length) return NO_PARAMS;
  const params = new Map<string, string>();
  while (at < text.length) {
    if (text[at] !== ";") return undefined;
    at = skipLws(text, at + 1);
    if (at >= text.length) break;
    const nameEnd = wordEnd(text, at);
    const name = text.slice(at, nameEnd);
    if (!isToken(name)) return undefined;
    let value = "";
    at = skipLws(text, nameEnd);
    if (text[at] === "=") {
      at = skipLws(text, at + 1);
      const quotedString = readQuotedString(text, at);
      const end = quotedString?.end ?? wordEnd(text, at);
      value = quotedString?.value ?? text.slice(at, end);
      at = skipLws(text, end);
    }
    const key = name.toLowerCase();
    if (!params.has(key)) params.set(key, value);
  }
  return params;
}

/** A value with parameters. */
export interface Parameterized {
  readonly value: string;
  readonly params: SipParams;
}

/** Reads `value;name=value`; the value ends at the first semicolon. */
export function parseParameterized(text: string): Parameterized | undefined {
  const semicolon = text.indexOf(";");
  const value = trimLws(semicolon < 0 ? text : text.slice(0, semicolon));
  const params = semicolon < 0 ? NO_PARAMS : parseParams(text, semicolon);
  return value === "" || params === undefined ? undefined : { value, params };
}

/** The parameters as text; a value that is neither a token nor a host is quoted. */
export function writeParams(params: SipParams): string {
  let text = "";
  for (const [name, value] of params) text += value === "" ? `;${name}` : `;${name}=${writeWord(value)}`;
  return text;
}

function writeWord(value: string): string {
  return isToken(value) || /^[[\]:.0-9a-fA-F]+$/.test(value) ? value : writeQuotedString(value);
}

/** The end index of a name or an unquoted value. */
function wordEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && !' \t;=,"<>'.includes(text.charAt(at))) at++;
  return at;
}

/** Random bytes as hex digits: for tags, branches, Call-IDs and salts, which must be unguessable. */
export function randomText(system: Pick<System, "random">, bytes: number): string {
  const random = new Uint8Array(bytes);
  system.random(random);
  return toHex(random);
}
