/** One line: `a=sendrecv` has type `a` and value `sendrecv`. */
export interface SdpLine {
  readonly type: string;
  readonly value: string;
}

/** A section of lines: the session's or a medium's. */
export interface SdpSection {
  /** All lines after the section's first line, including unknown ones. */
  readonly lines: readonly SdpLine[];
}

/** An `m=` line and its section. */
export interface SdpMedia extends SdpSection {
  /** `audio`, `video` … */
  readonly kind: string;
  /** Port of the media; 0 if rejected or disabled. */
  readonly port: number;
  /** `RTP/AVP` and the like, upper case. */
  readonly protocol: string;
  /** Payload types, as written. */
  readonly formats: readonly string[];
}

/** A session description (RFC 8866). */
export interface Sdp extends SdpSection {
  readonly media: readonly SdpMedia[];
}

/** Maximum length of a description, characters. */
const MAX_CHARACTERS = 65_536;

/**
 * Reads a session description, in any order and with any line endings; malformed lines are skipped, and so are lines that
 * belong to a malformed `m=`. Undefined if it is too long or not SDP. Never throws.
 */
export function parseSdp(text: string): Sdp | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const session: SdpLine[] = [];
  const media: (SdpMedia & { readonly lines: SdpLine[] })[] = [];
  let section = session;
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [, type, rest = ""] = /^\s*([a-z])\s?=(.*)$/i.exec(line) ?? [];
    if (type === undefined) continue;
    const value = rest.trim();
    if (type !== "m") {
      section.push({ type, value });
      continue;
    }
    section = [];
    if (value !== "") media.push({ ...parseMedia(value), lines: section });
  }
  return session.length === 0 && media.length === 0 ? undefined : { lines: session, media };
}

/** Writes a description with RFC 8866 line endings. */
export function writeSdp({ lines, media }: Sdp): string {
  const textLines = lines.map(writeLine);
  for (const { kind, port, protocol, formats, lines } of media)
    textLines.push(`m=${[kind, port, protocol, ...formats].join(" ")}`, ...lines.map(writeLine));
  return `${textLines.join("\r\n")}\r\n`;
}

/** The value of the first line with this type. */
export function line({ lines }: SdpSection, type: string): string | undefined {
  return lines.find((line) => line.type === type)?.value;
}

/** The value of an attribute: the text after its colon, "" if it has no colon. Undefined if it is missing. */
export function attribute(section: SdpSection, name: string): string | undefined {
  return attributes(section, name)[0];
}

/** The values of all attributes with this name. */
export function attributes({ lines }: SdpSection, name: string): string[] {
  const values: string[] = [];
  for (const { type, value } of lines) {
    if (type !== "a") continue;
    const colon = value.indexOf(":");
    const attributeName = (colon < 0 ? value : value.slice(0, colon)).trim().toLowerCase();
    if (attributeName === name) values.push(colon < 0 ? "" : value.slice(colon + 1).trim());
  }
  return values;
}

function writeLine({ type, value }: SdpLine): string {
  return `${type}=${value}`;
}

/** `audio 49170/2 RTP/AVP 0 8`. An invalid port becomes 0. */
function parseMedia(value: string): Omit<SdpMedia, "lines"> {
  const [kind = "", port = "", protocol = "", ...formats] = value.split(/\s+/);
  const number = /^\d{1,5}(?:\/\d{1,5})?$/.test(port) ? Number.parseInt(port, 10) : 0;
  return {
    kind: kind.toLowerCase(),
    port: number <= 65_535 ? number : 0,
    protocol: protocol.toUpperCase(),
    formats,
  };
}
