import {
  NO_PARAMS,
  parseParams,
  readQuotedString,
  type SipParams,
  skipLws,
  trimLws,
  writeParams,
  writeQuotedString,
} from "./grammar.ts";

/** The value of From, To, Contact, Route, Record-Route and the like (RFC 3261 section 20.10). */
export interface NameAddr {
  /** The display name, without quotes. */
  readonly display: string | undefined;
  /** The URI as written, of any scheme: it may be sent again byte for byte. */
  readonly uri: string;
  /** The parameters of the field: `tag`, `expires`, `q` and so on. */
  readonly params: SipParams;
}

/**
 * Reads `"Name" <uri>;params`, `Name <uri>;params` or `uri;params`: in the last form, all parameters belong to the field.
 * Undefined for anything else, and for a bare URI with a comma or a question mark (section 20.10).
 */
export function parseNameAddr(text: string): NameAddr | undefined {
  const from = skipLws(text, 0);
  const quotedName = readQuotedString(text, from);
  if (quotedName === undefined && text[from] === '"') return undefined;
  const openAt = quotedName === undefined ? text.indexOf("<", from) : skipLws(text, quotedName.end);
  if (openAt < 0) return parseBare(text.slice(from));
  if (text[openAt] !== "<") return undefined;
  const closeAt = text.indexOf(">", openAt);
  const uri = closeAt < 0 ? "" : trimLws(text.slice(openAt + 1, closeAt));
  const name = trimLws(text.slice(from, openAt));
  const params = parseParams(text, closeAt + 1);
  if (!isUri(uri) || params === undefined || (quotedName === undefined && name.includes('"'))) return undefined;
  return { display: quotedName?.value ?? (name === "" ? undefined : name), uri, params };
}

/** The value with angle brackets, and with quotes around the name. */
export function writeNameAddr({ display, uri, params }: NameAddr): string {
  const name = display === undefined ? "" : `${writeQuotedString(display)} `;
  return `${name}<${uri}>${writeParams(params)}`;
}

/** The tag in the value of a From or To field. */
export function tagOf(value: string | undefined): string | undefined {
  return (value === undefined ? undefined : parseNameAddr(value)?.params.get("tag")) || undefined;
}

/** The value of a From or To field with this tag; the rest stays as written. */
export function withTag(value: string, tag: string): string {
  if (tagOf(value) === undefined) return `${value};tag=${tag}`;
  const parsed = parseNameAddr(value) as NameAddr;
  return writeNameAddr({ ...parsed, params: new Map(parsed.params).set("tag", tag) });
}

function parseBare(text: string): NameAddr | undefined {
  const semicolon = text.indexOf(";");
  const uri = trimLws(semicolon < 0 ? text : text.slice(0, semicolon));
  if (!isUri(uri) || /[,?]/.test(uri)) return undefined;
  const params = semicolon < 0 ? NO_PARAMS : parseParams(text, semicolon);
  return params === undefined ? undefined : { display: undefined, uri, params };
}

/** True if the text is a URI of any scheme (RFC 3986 section 3.1): without spaces, quotes and brackets. */
function isUri(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"]+$/.test(text);
}
