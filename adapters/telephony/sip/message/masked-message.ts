import type { SipMessage } from "./message.ts";

/** What stands in the place of a secret. */
const MASK = "•••";

/**
 * The text of a message for a person to read, its lines parted by LF, without its secrets: what was computed from a
 * password, the keys of SRTP and ICE, passwords in URIs, fields that are named after a secret. A binary body is only counted.
 */
export function maskedMessage(message: SipMessage): string {
  const first =
    message.kind === "request"
      ? `${message.method} ${withoutUriPasswords(message.uri)} SIP/2.0`
      : `SIP/2.0 ${message.status} ${message.reason}`;
  const fields = Array.from(message.headers, ([name, value]) => `${name}: ${maskedValue(name, value)}`);
  return [first, ...fields, "", maskedBody(message.body)].join("\n");
}

function maskedValue(name: string, value: string): string {
  if (/secret|password|token|api-?key/i.test(name)) return MASK;
  if (!/^(?:(?:proxy-)?authorization|(?:proxy-)?authentication-info)$/i.test(name)) return withoutUriPasswords(value);
  if (/authorization$/i.test(name) && !/^\s*digest\s/i.test(value)) return `${value.trim().split(/\s/, 1)[0]} ${MASK}`;
  const masked = value.replace(/\b(response|cnonce|rspauth)(\s*=\s*)("(?:[^"\\]|\\.)*"?|[^\s,"]+)/gi, `$1$2"${MASK}"`);
  return withoutUriPasswords(masked);
}

/** `sip:user:password@host` without the password, wherever it stands. Linear in the text. */
function withoutUriPasswords(text: string): string {
  const parts = text.split("@");
  return parts.map((part, index) => (index < parts.length - 1 ? withoutPassword(part) : part)).join("@");
}

/** What stands before an @, without what follows the second colon of the URI that it ends with. */
function withoutPassword(text: string): string {
  let from = text.length;
  while (from > 0 && !/[\s<>"]/.test(text.charAt(from - 1))) from--;
  const scheme = /sips?:/i.exec(text.slice(from));
  const colon = scheme === null ? -1 : text.indexOf(":", from + scheme.index + scheme[0].length);
  return colon < 0 ? text : text.slice(0, colon + 1) + MASK;
}

function maskedBody(body: Uint8Array): string {
  if (body.includes(0)) return `(${body.length} bytes)`;
  return new TextDecoder()
    .decode(body)
    .replaceAll("\r\n", "\n")
    .replace(/(inline:)[^\s|;]+/gi, `$1${MASK}`)
    .replace(/^(a=ice-pwd:|k=).*$/gim, `$1${MASK}`);
}
