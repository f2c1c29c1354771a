import { isToken } from "./grammar.ts";
import type { SipMessage } from "./sip-message.ts";

const ENCODER = new TextEncoder();

/**
 * The bytes of a message (RFC 3261 section 7); Content-Length always matches the body.
 * @throws {RangeError} a name or value would break the message; the error names the field
 */
export function writeMessage(message: SipMessage): Uint8Array {
  let text = `${startLine(message)}\r\n`;
  for (const [name, value] of message.headers) {
    if (!isToken(name)) throw new RangeError(`the header field name ${JSON.stringify(name)} is not a token`);
    if (/[\r\n]/.test(value)) throw new RangeError(`the value of the header field ${name} contains a line break`);
    if (!/^(?:content-length|l)$/i.test(name)) text += `${name}: ${value}\r\n`;
  }
  const head = ENCODER.encode(`${text}Content-Length: ${message.body.length}\r\n\r\n`);
  if (message.body.length === 0) return head;
  const bytes = new Uint8Array(head.length + message.body.length);
  bytes.set(head);
  bytes.set(message.body, head.length);
  return bytes;
}

function startLine(message: SipMessage): string {
  if (message.kind === "request") {
    if (!isToken(message.method)) throw new RangeError(`the method ${JSON.stringify(message.method)} is not a token`);
    if (message.uri === "" || /\s/.test(message.uri))
      throw new RangeError(`the Request-URI ${JSON.stringify(message.uri)} is empty or contains white space`);
    return `${message.method} ${message.uri} SIP/2.0`;
  }
  if (!(Number.isInteger(message.status) && message.status >= 100 && message.status <= 699))
    throw new RangeError(`the status ${message.status} is not a whole number from 100 to 699`);
  if (/[\r\n]/.test(message.reason)) throw new RangeError("the reason phrase contains a line break");
  return `SIP/2.0 ${message.status} ${message.reason}`;
}

/** The replacement of a secret. */
const MASK = "•••";

/**
 * A message's text for a trace, with LF between lines and without its secrets: password digests, SRTP and ICE keys,
 * passwords in URIs, fields named after a secret. A binary body is replaced by its size.
 */
export function maskedMessage(message: SipMessage): string {
  const firstLine =
    message.kind === "request"
      ? `${message.method} ${withoutUriPasswords(message.uri)} SIP/2.0`
      : `SIP/2.0 ${message.status} ${message.reason}`;
  const fields = Array.from(message.headers, ([name, value]) => `${name}: ${maskedValue(name, value)}`);
  return [firstLine, ...fields, "", maskedBody(message.body)].join("\n");
}

function maskedValue(name: string, value: string): string {
  if (/secret|password|token|api-?key/i.test(name)) return MASK;
  if (!/^(?:(?:proxy-)?authorization|(?:proxy-)?authentication-info)$/i.test(name)) return withoutUriPasswords(value);
  if (/authorization$/i.test(name) && !/^\s*digest\s/i.test(value)) return `${value.trim().split(/\s/, 1)[0]} ${MASK}`;
  const maskedText = value.replace(
    /\b(response|cnonce|rspauth)(\s*=\s*)("(?:[^"\\]|\\.)*"?|[^\s,"]+)/gi,
    `$1$2"${MASK}"`,
  );
  return withoutUriPasswords(maskedText);
}

/** Masks the password in each `sip:user:password@host` of the text. Takes linear time. */
function withoutUriPasswords(text: string): string {
  const parts = text.split("@");
  return parts.map((part, index) => (index < parts.length - 1 ? withoutPassword(part) : part)).join("@");
}

/** Masks the password at the end of the text before an @. */
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
