import { isToken } from "./grammar.ts";
import type { SipMessage } from "./message.ts";

const ENCODER = new TextEncoder();

/**
 * The bytes of a message (RFC 3261 section 7); Content-Length is always that of the body.
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
