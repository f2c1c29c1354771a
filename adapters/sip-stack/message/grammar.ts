// Basic rules of SIP's grammar (RFC 3261 section 25.1): tokens, white space, quoted strings, numbers and lists.

const TOKEN = /^[-A-Za-z0-9.!%*_+`'~]+$/;

/** Whether the text is a token: the form of names of methods, fields and parameters. */
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
  let to = text.length;
  while (to > from && isLws(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isLws(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** A parsed quoted string. */
export interface QuotedString {
  /** Without the quotes and the backslashes. */
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
  let quoted = false;
  let bracketed = false;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
      if (at < text.length) continue;
    }
    if (character === '"') quoted = true;
    else if (character === "<") bracketed = true;
    else if (character === ">") bracketed = false;
    else if (at >= text.length || (character === "," && !bracketed)) {
      const element = trimLws(text.slice(from, at));
      if (element !== "") elements.push(element);
      from = at + 1;
    }
  }
  return elements;
}
