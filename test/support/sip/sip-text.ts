/** A SIP message as text. Tests read and write messages in this form, so that they share no bug with the adapter. */
export interface SipText {
  /** The request line or the status line. */
  readonly start: string;
  readonly fields: readonly Field[];
  readonly body: string;
}

export type Field = readonly [name: string, value: string];

const COMPACT_FORMS: Readonly<Record<string, string>> = { v: "via", f: "from", t: "to", i: "call-id", m: "contact" };

/** Reads one datagram. @throws {Error} it has no empty line after its header */
export function readSip(datagram: Buffer): SipText {
  const text = datagram.toString("utf8");
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) throw new Error(`not SIP: ${JSON.stringify(text.slice(0, 200))}`);
  const [start = "", ...lines] = text
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const fields = lines.map((line): Field => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  return { start, fields, body: text.slice(end + 4) };
}

export function writeSip({ start, fields, body }: SipText): Buffer {
  const allFields: Field[] = [...fields, ["Content-Length", String(Buffer.byteLength(body))]];
  return Buffer.from(`${start}\r\n${allFields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`);
}

/** Every field of this name, as written. */
export function fieldsNamed({ fields }: SipText, name: string): Field[] {
  const lowerName = name.toLowerCase();
  return fields.filter(([fieldName]) => {
    const lower = fieldName.toLowerCase();
    return (COMPACT_FORMS[lower] ?? lower) === lowerName;
  });
}

/** The value of the first field of this name; "" if there is none. */
export const field = (text: SipText, name: string): string => fieldsNamed(text, name)[0]?.[1] ?? "";

/** A parameter after a semicolon: `tag`, `branch`. */
export const parameter = (value: string, name: string): string | undefined =>
  new RegExp(`;\\s*${name}\\s*=\\s*([^;,\\s>]+)`, "i").exec(value)?.[1];

/** Method of a request, `INVITE`; "" for a response. */
export const methodOf = ({ start }: SipText): string => (start.startsWith("SIP/2.0 ") ? "" : start.split(" ")[0]!);

/** Status of a response, 486; 0 for a request. */
export const statusOf = ({ start }: SipText): number => Number(/^SIP\/2\.0 (\d{3})/.exec(start)?.[1] ?? 0);

/** The text between < and >, or before the first semicolon. */
export const uriIn = (value: string): string => /<([^>]*)>/.exec(value)?.[1] ?? value.split(";")[0]!.trim();

/** `+12025550100` of `sip:+12025550100@example.com`. */
export const userOf = (uri: string): string => /^sips?:([^@;]+)@/i.exec(uri)?.[1] ?? "";
