import { isToken, readQuotedString, skipLws, trimLws, writeQuotedString } from "./grammar.ts";

/** Parameters behind a value, `;name=value`: names in lower case, in their order; one without a value has an empty one. */
export type SipParams = ReadonlyMap<string, string>;

export const NO_PARAMS: SipParams = new Map();

/**
 * The parameters that begin at this place and go on to the end of the text; undefined where it is something else.
 * Of two with one name the first counts; one semicolon too many at the end is forgiven.
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

/** A value with parameters behind it. */
export interface Parameterized {
  readonly value: string;
  readonly params: SipParams;
}

/** Reads `value;name=value`, the value being whatever stands before the first semicolon. */
export function parseParameterized(text: string): Parameterized | undefined {
  const semicolon = text.indexOf(";");
  const value = trimLws(semicolon < 0 ? text : text.slice(0, semicolon));
  const params = semicolon < 0 ? NO_PARAMS : parseParams(text, semicolon);
  return value === "" || params === undefined ? undefined : { value, params };
}

/** As they stand behind a value; what is neither a token nor a host is quoted. */
export function writeParams(params: SipParams): string {
  let text = "";
  for (const [name, value] of params) text += value === "" ? `;${name}` : `;${name}=${writeWord(value)}`;
  return text;
}

function writeWord(value: string): string {
  return isToken(value) || /^[[\]:.0-9a-fA-F]+$/.test(value) ? value : writeQuotedString(value);
}

/** Where a name or an unquoted value ends. */
function wordEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && !' \t;=,"<>'.includes(text.charAt(at))) at++;
  return at;
}
