import type { SipMessage } from "./message.ts";

/** The replacement of a secret. */
const MASK = "•••";

/**
 * The text of a message for a trace, with LF between lines and without its secrets: digests of a password, keys of SRTP
 * and ICE, passwords in URIs, fields named after a secret. A binary body is replaced by its size.
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

/** Masks the password of each `sip:user:password@host` in a text. Takes linear time. */
function withoutUriPasswords(text: string): string {
  const parts = text.split("@");
  return parts.map((part, index) => (index < parts.length - 1 ? withoutPassword(part) : part)).join("@");
}

/** Masks the password at the end of a text before an @. */
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
