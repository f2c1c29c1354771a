import { isToken, type Parameterized, parseParameterized, skipLws, trimLws } from "./grammar.ts";
import { parseCSeq, parseVia } from "./header-values.ts";
import { SipHeaders } from "./headers.ts";
import { parseNameAddr, tagOf, withTag } from "./name-addr.ts";
import {
  EMPTY_BODY,
  MAX_BODY_BYTES,
  MAX_FIELDS,
  MAX_HEADER_BYTES,
  type MessageError,
  responseTo,
  type SipMessage,
  type SipResponse,
  sipRequest,
} from "./sip-message.ts";
import { parseUri } from "./uri.ts";

/**
 * Reads the message in one datagram. Bytes beyond Content-Length are ignored; without the field the body is the rest of
 * the datagram (RFC 3261 section 18.3). Never throws.
 */
export function parseMessage(bytes: Uint8Array): SipMessage | MalformedMessage {
  const from = skipEmptyLines(bytes, 0);
  const end = headEnd(bytes, from);
  const head = readHead(bytes.subarray(from, end < 0 ? bytes.length : end));
  if (end < 0) return completeMessage(head, EMPTY_BODY, { status: 400, detail: "The message ends within its header" });
  const receivedBytes = bytes.length - end;
  const length = contentLength(head.headers) ?? receivedBytes;
  if (typeof length !== "number") return completeMessage(head, EMPTY_BODY, length);
  if (length <= receivedBytes) return completeMessage(head, new Uint8Array(bytes.subarray(end, end + length)));
  const detail = `Content-Length is ${length}, but the body has only ${receivedBytes} bytes`;
  return completeMessage(head, EMPTY_BODY, { status: 400, detail });
}

/**
 * The offset of the body: after the first empty line (RFC 3261 section 7); -1 without one. Lines end with CRLF or a
 * bare LF. First skip the empty lines before a message. To continue with more bytes, start two bytes before the new
 * ones.
 */
export function headEnd(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}

/** The offset of the first byte other than CR and LF (RFC 3261 section 7.5). */
export function skipEmptyLines(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === CR || bytes[at] === LF) at++;
  return at;
}

const CR = 0x0d;
const LF = 0x0a;

/** A message's start line and header (RFC 3261 section 7); the error is the first fault. */
export type MessageHead = ReadStartLine & { readonly headers: SipHeaders };

/** The fault of a header that exceeds the limit. */
export const HEADER_TOO_LARGE: MessageError = {
  status: 513,
  detail: `The header is larger than ${MAX_HEADER_BYTES / 1024} KiB`,
};

/** Reads a start line at the first byte, and the header fields below it, up to the limit. */
export function readHead(bytes: Uint8Array): MessageHead {
  const [firstLine = "", ...otherLines] = headerLines(bytes.subarray(0, MAX_HEADER_BYTES));
  const line = readStartLine(firstLine);
  const { headers, error } = readFields(otherLines);
  if (line.start === undefined) return { ...line, headers };
  const tooLarge = bytes.length > MAX_HEADER_BYTES ? HEADER_TOO_LARGE : undefined;
  return { start: line.start, headers, error: line.error ?? tooLarge ?? error };
}

/** The lines of a header: UTF-8, ended by CRLF or a bare LF. */
export function headerLines(bytes: Uint8Array): string[] {
  const lines = DECODER.decode(bytes).split("\n");
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads header fields up to the first empty line; folded lines are joined by one space (RFC 3261 section 7.3.1). Lines
 * that are not fields are ignored (section 8.2.2). The error is the first fault.
 */
export function readFields(lines: readonly string[]): { headers: SipHeaders; error: MessageError | undefined } {
  const headers = new SipHeaders();
  let error: MessageError | undefined;
  let count = 0;
  for (let at = 0; at < lines.length && lines[at] !== ""; at++) {
    const parts = [lines[at] as string];
    while (isFolded(lines[at + 1])) parts.push(trimLws(lines[++at] as string));
    const line = parts.join(" ");
    const colon = line.indexOf(":");
    const name = trimLws(line.slice(0, Math.max(colon, 0)));
    if (line.includes("\r")) error ??= STRAY_RETURN;
    else if (!isToken(name)) continue;
    else if (++count <= MAX_FIELDS) headers.add(name, trimLws(line.slice(colon + 1)));
    else error ??= TOO_MANY;
  }
  return { headers, error };
}

const STRAY_RETURN: MessageError = {
  status: 400,
  detail: "A header field has a carriage return without a line feed",
};
const TOO_MANY: MessageError = { status: 400, detail: `The header has more than ${MAX_FIELDS} fields` };

function isFolded(line: string | undefined): boolean {
  return line !== undefined && (line[0] === " " || line[0] === "\t") && trimLws(line) !== "";
}

/** The start line of a message (RFC 3261 section 7). */
type StartLine =
  | { readonly kind: "request"; readonly method: string; readonly uri: string }
  | { readonly kind: "response"; readonly status: number; readonly reason: string };

/** The parsed start line and its fault; `start` is missing if it is neither a Request-Line nor a Status-Line. */
type ReadStartLine =
  | { readonly start: StartLine; readonly error: MessageError | undefined }
  | { readonly start: undefined; readonly error: MessageError };

/** Reads a Request-Line or a Status-Line (RFC 3261 sections 7.1 and 7.2); several spaces count as one. */
export function readStartLine(text: string): ReadStartLine {
  const line = trimLws(text);
  if (line.includes("\r")) return { start: undefined, error: NOT_SIP };
  return /^SIP\//i.test(line) ? readStatusLine(line) : readRequestLine(line);
}

function readRequestLine(line: string): ReadStartLine {
  const methodEnd = Math.max(line.search(/[ \t]/), 0);
  const versionAt = Math.max(line.lastIndexOf(" "), line.lastIndexOf("\t")) + 1;
  const method = line.slice(0, methodEnd);
  const version = line.slice(versionAt);
  const uri = trimLws(line.slice(methodEnd, versionAt));
  if (!isToken(method) || !/^SIP\/\d+\.\d+$/i.test(version)) return { start: undefined, error: NOT_SIP };
  const start: StartLine = { kind: "request", method, uri };
  if (!/^SIP\/2\.0$/i.test(version)) return { start, error: { status: 505, detail: "The version is not SIP/2.0" } };
  const detail = uriFault(uri);
  return { start, error: detail === undefined ? undefined : { status: 400, detail } };
}

function readStatusLine(line: string): ReadStartLine {
  const codeAt = skipLws(line, "SIP/2.0".length);
  const [code = ""] = line.slice(codeAt, codeAt + 4).split(/[ \t]/, 1);
  if (!/^SIP\/2\.0[ \t]/i.test(line) || !/^[1-6]\d\d$/.test(code))
    return { start: undefined, error: { status: 400, detail: "The status line is not valid SIP/2.0" } };
  const reason = trimLws(line.slice(codeAt + code.length));
  return { start: { kind: "response", status: Number(code), reason }, error: undefined };
}

const NOT_SIP: MessageError = { status: 400, detail: "The start line is not SIP" };

/** The fault of a Request-URI of any scheme. */
function uriFault(uri: string): string | undefined {
  if (/\s/.test(uri)) return "The Request-URI contains white space";
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^<>"]+$/.test(uri)) return "The Request-URI is not a URI";
  if (!/^sips?:/i.test(uri)) return undefined;
  const parsed = parseUri(uri);
  if (parsed === undefined) return "The Request-URI is not a SIP URI";
  return parsed.headers.length > 0 ? "The Request-URI contains header fields" : undefined;
}

/** A body's media type, in lower case, with its parameters (RFC 3261 section 20.15): `application/sdp`. */
export function contentType(headers: SipHeaders): Parameterized | undefined {
  const parsed = parseParameterized(headers.get("Content-Type") ?? "");
  const halves =
    parsed?.value
      .toLowerCase()
      .split("/")
      .map((half) => half.trim()) ?? [];
  if (parsed === undefined || halves.length !== 2 || halves.some((half) => half === "" || /\s/.test(half)))
    return undefined;
  return { value: halves.join("/"), params: parsed.params };
}

/** The value of Content-Length (RFC 3261 section 20.14): a length, or its fault; undefined without the field. */
export function contentLength(headers: SipHeaders): number | MessageError | undefined {
  const values = headers.fields("Content-Length");
  const lengths = new Set(values.map((text) => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN)));
  const [length] = lengths;
  if (length === undefined) return undefined;
  if (lengths.size > 1 || Number.isNaN(length)) return { status: 400, detail: "Content-Length is not a number" };
  return length > MAX_BODY_BYTES ? TOO_LARGE : length;
}

const TOO_LARGE: MessageError = { status: 413, detail: `The body is larger than ${MAX_BODY_BYTES / 1024} KiB` };

/**
 * The message (RFC 3261 section 7) with its body; or its first fault: that of its head, the one passed in, or that of a
 * field.
 */
export function completeMessage(
  head: MessageHead,
  body: Uint8Array,
  headError?: MessageError,
): SipMessage | MalformedMessage {
  const { start, headers } = head;
  if (start === undefined) return malformed(head, head.error);
  const error = head.error ?? headError ?? messageFault(start, headers);
  return error === undefined ? { ...start, headers, body } : malformed(head, error);
}

/** Fields that we depend on and that may occur only once (RFC 3261 section 20). */
const SINGLE_FIELDS = ["From", "To", "Call-ID", "CSeq", "Max-Forwards"];

/** The fault of a message whose required fields (RFC 3261 section 8.1.1) are missing or malformed. */
function messageFault(start: StartLine, headers: SipHeaders): MessageError | undefined {
  const detail = fieldFault(start, headers);
  return detail === undefined ? undefined : { status: 400, detail };
}

function fieldFault(start: StartLine, headers: SipHeaders): string | undefined {
  const repeatedField = SINGLE_FIELDS.find((name) => headers.fields(name).length > 1);
  if (repeatedField !== undefined) return `${repeatedField} occurs more than once`;
  const missingField = ["Via", "From", "To", "Call-ID", "CSeq"].find((name) => !headers.get(name));
  if (missingField !== undefined) return `${missingField} is missing`;
  if (parseVia(headers.list("Via")[0] ?? "") === undefined) return "Via cannot be read";
  const unreadableField = ["From", "To"].find((name) => parseNameAddr(headers.get(name) ?? "") === undefined);
  if (unreadableField !== undefined) return `${unreadableField} cannot be read`;
  const cseq = parseCSeq(headers.get("CSeq"));
  if (cseq === undefined) return "CSeq cannot be read";
  if (start.kind === "response") return undefined;
  if (cseq.method !== start.method) return "CSeq names a method other than the first line's";
  const hops = headers.get("Max-Forwards");
  if (hops !== undefined && !(/^\d+$/.test(hops) && Number(hops) <= 255))
    return "Max-Forwards is not a number up to 255";
  return undefined;
}

/** A malformed message (RFC 3261 section 21.4.1). */
export interface MalformedMessage {
  readonly kind: "malformed";
  /** The fault. */
  readonly detail: string;
  /** The response to send: 400, 413, 505 or 513. Undefined for a response, an ACK, or an unreadable Via. */
  readonly response: SipResponse | undefined;
}

/** The malformed message with this head; the reason phrase of its response names the fault. */
export function malformed(head: Pick<MessageHead, "start" | "headers">, error: MessageError): MalformedMessage {
  return { kind: "malformed", detail: error.detail, response: refusal(head, error) };
}

function refusal(
  { start, headers }: Pick<MessageHead, "start" | "headers">,
  { status, detail }: MessageError,
): SipResponse | undefined {
  const [sentBy = ""] = (headers.list("Via")[0] ?? "").split(";", 1);
  if (start?.kind !== "request" || start.method === "ACK" || parseVia(sentBy) === undefined) return undefined;
  const response = responseTo(sipRequest(start.method, start.uri, headers), status, detail);
  const to = response.headers.get("To");
  if (to !== undefined && tagOf(to) === undefined) response.headers.set("To", withTag(to, "malformed"));
  return response;
}
