import { isToken } from "./grammar.ts";
import type { SipMessage } from "./message.ts";

const ENCODER = new TextEncoder();

/**
 * The message as it is sent; Content-Length is that of the body, whatever the headers say.
 * @throws {RangeError} a name or value of ours that would break the message: it names the field
 */
export function writeMessage(message: SipMessage): Uint8Array {
  let text = `${startLine(message)}\r\n`;
  for (const [name, value] of message.headers) {
    if (!isToken(name)) throw new RangeError(`The header field ${JSON.stringify(name)} has a name that is no token`);
    if (/[\r\n]/.test(value)) throw new RangeError(`The header field ${name} has a line break in its value`);
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
    if (!isToken(message.method)) throw new RangeError(`The method ${JSON.stringify(message.method)} is no token`);
    if (message.uri === "" || /\s/.test(message.uri))
      throw new RangeError(`The Request-URI ${JSON.stringify(message.uri)} is empty or has white space in it`);
    return `${message.method} ${message.uri} SIP/2.0`;
  }
  if (!(Number.isInteger(message.status) && message.status >= 100 && message.status <= 699))
    throw new RangeError(`The status ${message.status} is not between 100 and 699`);
  if (/[\r\n]/.test(message.reason)) throw new RangeError("The reason phrase has a line break in it");
  return `SIP/2.0 ${message.status} ${message.reason}`;
}
