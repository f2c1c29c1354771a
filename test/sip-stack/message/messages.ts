import { type MalformedMessage, parseMessage } from "../../../adapters/sip-stack/message/parse-message.ts";
import type { SipMessage, SipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";

/** Bytes of a text whose lines are separated by a bare LF, with CRLF as on the wire. */
export function wire(text: string): Uint8Array {
  return new TextEncoder().encode(text.replaceAll("\n", "\r\n"));
}

/** Message from a text whose lines are separated by LF. */
export function parseText(text: string): SipMessage | MalformedMessage {
  return parseMessage(wire(text));
}

/** A request parsed from text in this form; throws for any other message. */
export function parseRequest(text: string): SipRequest {
  const message = parseText(text);
  if (message.kind === "request") return message;
  throw new Error(message.kind === "malformed" ? message.detail : `a response: ${message.status}`);
}

/** A small valid request, with these lines replacing its own or added. */
export function optionsWith(...lines: string[]): string {
  const replacedNames = new Set(lines.map((line) => line.split(":", 1)[0]));
  const defaults = [
    "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1",
    "From: <sip:a@example.com>;tag=1",
    "To: <sip:b@example.com>",
    "Call-ID: 1@example.com",
    "CSeq: 1 OPTIONS",
    "Max-Forwards: 70",
    "Content-Length: 0",
  ].filter((line) => !replacedNames.has(line.split(":", 1)[0] as string));
  return `OPTIONS sip:b@example.com SIP/2.0\n${[...defaults, ...lines].join("\n")}\n\n`;
}
