import { NO_PARAMS, type SipParams } from "./grammar.ts";

/** A host with an optional port: `hostport` in RFC 3261 section 25.1. */
export interface HostPort {
  /** Lower case; an IPv6 address without its brackets. */
  readonly host: string;
  /** Port, 1 to 65535. */
  readonly port: number | undefined;
}

const NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/;
const IPV6 = /^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$/;

/** `host`, `host:port` or `[address]:port` (RFC 3261 section 25.1); spaces around the colon are allowed. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = text.startsWith("[") ? /^\[([^\]]*)\](.*)$/s.exec(text) : /^([^:]*)(.*)$/s.exec(text);
  const host = match?.[1]?.trimEnd() ?? "";
  const portText = match?.[2]?.trim() ?? "";
  if (host.length > 255 || !(text.startsWith("[") ? IPV6 : NAME).test(host)) return undefined;
  if (portText === "") return { host: host.toLowerCase(), port: undefined };
  const digits = portText.slice(1).trimStart();
  if (portText[0] !== ":" || !/^\d{1,5}$/.test(digits)) return undefined;
  const port = Number(digits);
  return port >= 1 && port <= 65_535 ? { host: host.toLowerCase(), port } : undefined;
}

/** The host, in brackets if it is an IPv6 address, with its port if there is one. */
export function writeHostPort({ host, port }: HostPort): string {
  const hostText = host.includes(":") ? `[${host}]` : host;
  return port === undefined ? hostText : `${hostText}:${port}`;
}

/** A `sip:` or `sips:` URI (RFC 3261 section 19.1), without its escapes. */
export interface SipUri {
  readonly scheme: "sip" | "sips";
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Lower case; an IPv6 address without its brackets. */
  readonly host: string;
  readonly port: number | undefined;
  /** `transport`, `lr`, `user` and so on. */
  readonly params: SipParams;
  /** The part after the question mark: header fields of a request for this URI. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** A URI with these parts; by default `sip:` and the host only. */
export function sipUri(parts: Partial<SipUri> & Pick<SipUri, "host">): SipUri {
  return {
    scheme: "sip",
    user: undefined,
    password: undefined,
    port: undefined,
    params: NO_PARAMS,
    headers: [],
    ...parts,
  };
}

/** Reads a SIP or SIPS URI without white space; returns undefined for anything else. */
export function parseUri(text: string): SipUri | undefined {
  const match = /^(sips?):([^\s<>"]+)$/i.exec(text);
  if (match === null) return undefined;
  const scheme = (match[1] as string).toLowerCase() as SipUri["scheme"];
  const remainder = match[2] as string;
  const at = remainder.indexOf("@");
  const userInfo = at < 0 ? undefined : remainder.slice(0, at);
  const colon = userInfo?.indexOf(":") ?? -1;
  const user = colon < 0 ? userInfo : userInfo?.slice(0, colon);
  const password = colon < 0 ? undefined : userInfo?.slice(colon + 1);
  if (user === "") return undefined;

  const [, hostPort = "", paramText = "", headerText] =
    /^([^;?]*)((?:;[^?]*)?)(?:\?(.*))?$/s.exec(remainder.slice(at + 1)) ?? [];
  const address = parseHostPort(hostPort);
  const params = parseUriParams(paramText);
  if (address === undefined || params === undefined) return undefined;
  return {
    scheme,
    user: user === undefined ? undefined : readEscapes(user),
    password: password === undefined ? undefined : readEscapes(password),
    ...address,
    params,
    headers: headerText === undefined ? [] : parseUriHeaders(headerText),
  };
}

/** The URI as text, with the necessary escapes. */
export function writeUri({ scheme, user, password, host, port, params, headers }: SipUri): string {
  let text = `${scheme}:`;
  if (user !== undefined) {
    text += escapeAllBut("&=+$,;?/", user);
    if (password !== undefined) text += `:${escapeAllBut("&=+$,", password)}`;
    text += "@";
  }
  text += writeHostPort({ host, port });
  for (const [name, value] of params) {
    text += `;${escapeAllBut("[]/:&+$", name)}`;
    if (value !== "") text += `=${escapeAllBut("[]/:&+$", value)}`;
  }
  const pairs = headers.map(([name, value]) => `${escapeAllBut("[]/?:+$", name)}=${escapeAllBut("[]/?:+$", value)}`);
  return pairs.length === 0 ? text : `${text}?${pairs.join("&")}`;
}

/** The same URI without its port, which From and To must not have (RFC 3261 section 19.1.1, table 1). */
export function withoutPort(text: string): string {
  const uri = parseUri(text);
  return uri?.port === undefined ? text : writeUri({ ...uri, port: undefined });
}

/** Parameters that must be in both URIs or in neither for them to be equal (section 19.1.4). */
const NEVER_IGNORED = ["user", "ttl", "method", "maddr", "transport"];

/** True if two URIs are equal (RFC 3261 section 19.1.4): a missing port is not equal to the default port. */
export function sameUri(a: SipUri, b: SipUri): boolean {
  return (
    a.scheme === b.scheme &&
    a.user === b.user &&
    a.password === b.password &&
    a.host.toLowerCase() === b.host.toLowerCase() &&
    a.port === b.port &&
    sameParams(a.params, b.params) &&
    sortedHeaders(a) === sortedHeaders(b)
  );
}

function sameParams(a: SipParams, b: SipParams): boolean {
  if (NEVER_IGNORED.some((name) => a.has(name) !== b.has(name))) return false;
  return [...a].every(([name, value]) => (b.get(name) ?? value).toLowerCase() === value.toLowerCase());
}

function sortedHeaders({ headers }: SipUri): string {
  const keyed = headers.map(([name, value]) => JSON.stringify([name.toLowerCase(), value]));
  return keyed.sort().join();
}

function parseUriParams(text: string): SipParams | undefined {
  if (text === "") return NO_PARAMS;
  const params = new Map<string, string>();
  for (const part of text.slice(1).split(";")) {
    const equals = part.indexOf("=");
    const name = readEscapes(equals < 0 ? part : part.slice(0, equals)).toLowerCase();
    if (name === "") return undefined;
    if (!params.has(name)) params.set(name, equals < 0 ? "" : readEscapes(part.slice(equals + 1)));
  }
  return params;
}

function parseUriHeaders(text: string): SipUri["headers"] {
  return text.split("&").map((part) => {
    const equals = part.indexOf("=");
    return equals < 0
      ? [readEscapes(part), ""]
      : [readEscapes(part.slice(0, equals)), readEscapes(part.slice(equals + 1))];
  });
}

const HEX = "0123456789ABCDEF";

/**
 * Decodes `%41` and the like as UTF-8, once (RFC 3986 section 2.4). A percent sign without two hex digits stays; invalid
 * UTF-8 becomes U+FFFD.
 */
function readEscapes(text: string): string {
  if (!text.includes("%")) return text;
  const bytes = new TextEncoder().encode(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++, length++) {
    const high = bytes[at] === 0x25 ? digit(bytes[at + 1]) : -1;
    const low = high < 0 ? -1 : digit(bytes[at + 2]);
    bytes[length] = low < 0 ? (bytes[at] as number) : high * 16 + low;
    if (low >= 0) at += 2;
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, length));
}

/** The text as UTF-8, with an escape for each byte except letters, digits, `-_.!~*'()` and the allowed characters. */
function escapeAllBut(allowed: string, text: string): string {
  if (/^[\w\-.!~*'()]*$/.test(text)) return text;
  let escapedText = "";
  for (const byte of new TextEncoder().encode(text)) {
    const character = String.fromCharCode(byte);
    const isPlain = byte < 0x80 && (/[\w\-.!~*'()]/.test(character) || allowed.includes(character));
    escapedText += isPlain ? character : `%${HEX[byte >> 4]}${HEX[byte & 15]}`;
  }
  return escapedText;
}

function digit(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
