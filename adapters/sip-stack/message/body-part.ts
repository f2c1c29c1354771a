import type { SipHeaders } from "./headers.ts";
import { contentType, headEnd, headerLines, readFields, readStartLine } from "./parse-message.ts";

/** A body (RFC 3261 section 7.4), or one part of it, with the fields that describe it. */
interface BodyPart {
  readonly headers: SipHeaders;
  readonly body: Uint8Array;
}

/**
 * The content with this media type: the body, or the first such part of a `multipart` body, at most three levels deep
 * (RFC 5621 section 3: some gateways send SDP together with ISUP). Undefined if there is none.
 */
export function bodyPart({ headers, body }: BodyPart, type: string, depth = 3): Uint8Array | undefined {
  const declaredType = contentType(headers);
  if (body.length === 0 || declaredType === undefined) return undefined;
  if (declaredType.value === type) return body;
  const boundary = declaredType.params.get("boundary");
  if (!boundary || !declaredType.value.startsWith("multipart/") || depth === 0) return undefined;
  for (const part of bodyParts(body, `--${boundary}`)) {
    const content = bodyPart(part, type, depth - 1);
    if (content !== undefined) return content;
  }
  return undefined;
}

/** One character per byte, so that indexes in the text are offsets in the bytes. */
const BYTEWISE = new TextDecoder("latin1");

/**
 * The parts between lines that start with the delimiter (RFC 2046 section 5.1.1); the last delimiter may be missing.
 */
function* bodyParts(body: Uint8Array, delimiter: string): Iterable<BodyPart> {
  const text = `\n${BYTEWISE.decode(body)}`; // its indexes are one too high
  const line = `\n${delimiter}`;
  let at = text.indexOf(line);
  while (at >= 0 && !text.startsWith("--", at + line.length)) {
    const from = text.indexOf("\n", at + line.length);
    if (from < 0) return;
    const next = text.indexOf(line, from);
    const end = next < 0 ? text.length : text[next - 1] === "\r" ? next - 1 : next;
    yield readPart(body.subarray(from, Math.max(from, end - 1)));
    at = next;
  }
}

function readPart(bytes: Uint8Array): BodyPart {
  const lines = headerLines(bytes.subarray(0, 2));
  const hasNoFields = lines.length > 1 && lines[0] === "";
  const end = hasNoFields ? bytes.indexOf(0x0a) + 1 : headEnd(bytes, 0);
  if (end < 0) return { headers: readFields([]).headers, body: bytes };
  return { headers: readFields(headerLines(bytes.subarray(0, end))).headers, body: bytes.subarray(end) };
}

/** Maximum length of a status line, bytes. */
const MAX_LINE = 500;

/** A status of another call, as reported by its party. */
interface ReportedStatus {
  /** Status, 100 to 699. */
  readonly status: number;
  readonly reason: string;
}

/**
 * The status line at the beginning of a `message/sipfrag` body (RFC 3420), by which a NOTIFY reports on a transfer (RFC
 * 3515 section 2.4.5); undefined if it does not begin with one. The rest is not read.
 */
export function reportedStatus(body: Uint8Array): ReportedStatus | undefined {
  const [line = ""] = new TextDecoder().decode(body.subarray(0, MAX_LINE)).split(/\r?\n/, 1);
  const { start } = readStartLine(line);
  return start?.kind === "response" ? { status: start.status, reason: start.reason } : undefined;
}
