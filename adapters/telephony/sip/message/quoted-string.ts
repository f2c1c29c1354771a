/** A quoted string as it was read. */
export interface QuotedString {
  /** Without the quotes and the backslashes. */
  readonly value: string;
  /** Behind the closing quote. */
  readonly end: number;
}

/** The quoted string (RFC 3261 section 25.1) whose opening quote stands at this place; undefined where it has no end. */
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

/** The text in quotes, with a backslash before what needs one. */
export function writeQuotedString(value: string): string {
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}
