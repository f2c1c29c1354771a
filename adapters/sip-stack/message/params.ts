import { isToken, readQuotedString, skipLws, trimLws, writeQuotedString } from "./grammar.ts";

/** Parameters `;name=value` (RFC 3261 section 7.3.1): names in lower case, in order; a missing value is an empty one. */
export type SipParams = ReadonlyMap<string, string>;

export const NO_PARAMS: SipParams = new Map();

/**
 * Reads the parameters from `from` to the end of the text; undefined if it is malformed. The first of two parameters with
 * one name counts; a trailing semicolon is ignored.
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
      const quoted = readQuotedString(text, at);
      const end = quoted?.end ?? wordEnd(text, at);
      value = quoted?.value ?? text.slice(at, end);
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
