import { SipHeaders } from "./headers.ts";
import { MAX_FIELDS } from "./limits.ts";
import { skipLws, trimLws } from "./lws.ts";
import type { Complaint } from "./malformed-message.ts";
import { isToken } from "./token.ts";
import { parseUri } from "./uri.ts";

/** The first line of a message. */
export type StartLine =
  | { readonly kind: "request"; readonly method: string; readonly uri: string }
  | { readonly kind: "response"; readonly status: number; readonly reason: string };

/** What stands before the body. */
export interface MessageHead {
  /** Undefined where the first line is neither a request's nor a response's. */
  readonly start: StartLine | undefined;
  readonly headers: SipHeaders;
  /** The first thing that is wrong. */
  readonly complaint: Complaint | undefined;
}

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads the start line, which begins at the first byte, and the header fields: UTF-8, lines ended by CRLF or a bare LF, folded ones joined by one space
 * (RFC 3261 section 7.3.1). A line that is no field is ignored (section 8.2.2).
 */
export function readHead(bytes: Uint8Array): MessageHead {
  const lines = DECODER.decode(bytes).split("\n");
  const read = readStartLine(withoutCr(lines[0] as string));
  const headers = new SipHeaders();
  let complaint = read.complaint;
  let count = 0;
  for (let at = 1; at < lines.length; at++) {
    let line = withoutCr(lines[at] as string);
    if (line === "") break;
    const folded: string[] = [];
    while (isFolded(lines[at + 1])) folded.push(trimLws(withoutCr(lines[++at] as string)));
    if (folded.length > 0) line = [line, ...folded].join(" ");
    if (line.includes("\r")) {
      complaint ??= { status: 400, detail: "A header field has a carriage return without a line feed" };
      continue;
    }
    const colon = line.indexOf(":");
    const name = trimLws(line.slice(0, Math.max(colon, 0)));
    if (!isToken(name)) continue;
    if (++count > MAX_FIELDS) {
      complaint ??= { status: 400, detail: `The header has more than ${MAX_FIELDS} fields` };
      break;
    }
    headers.add(name, trimLws(line.slice(colon + 1)));
  }
  return { start: read.start, headers, complaint };
}

function readStartLine(text: string): Pick<MessageHead, "start" | "complaint"> {
  const line = trimLws(text);
  if (/^SIP\//i.test(line)) return readStatusLine(line);
  const methodEnd = line.search(/[ \t]/);
  const versionAt = Math.max(line.lastIndexOf(" "), line.lastIndexOf("\t")) + 1;
  const method = line.slice(0, Math.max(methodEnd, 0));
  const version = line.slice(versionAt);
  const uri = trimLws(line.slice(Math.max(methodEnd, 0), versionAt));
  if (!isToken(method) || !/^SIP\/\d+\.\d+$/i.test(version))
    return { start: undefined, complaint: { status: 400, detail: "The first line is not one of SIP" } };
  const start: StartLine = { kind: "request", method, uri };
  if (!/^SIP\/2\.0$/i.test(version)) return { start, complaint: { status: 505, detail: "The version is not SIP/2.0" } };
  const detail = uriFault(uri);
  return { start, complaint: detail === undefined ? undefined : { status: 400, detail } };
}

function readStatusLine(line: string): Pick<MessageHead, "start" | "complaint"> {
  const codeAt = skipLws(line, Math.max(line.search(/[ \t]/), 0));
  const code = line.slice(codeAt).split(/[ \t]/, 1)[0] as string;
  if (!/^SIP\/2\.0[ \t]/i.test(line) || !/^[1-6]\d\d$/.test(code))
    return { start: undefined, complaint: { status: 400, detail: "The status line is not one of SIP/2.0" } };
  const reason = trimLws(line.slice(codeAt + code.length));
  return { start: { kind: "response", status: Number(code), reason }, complaint: undefined };
}

/** What is wrong with a Request-URI of whatever scheme. */
function uriFault(uri: string): string | undefined {
  if (/\s/.test(uri)) return "The Request-URI has white space in it";
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^<>"]+$/.test(uri)) return "The Request-URI is not a URI";
  if (!/^sips?:/i.test(uri)) return undefined;
  const read = parseUri(uri);
  if (read === undefined) return "The Request-URI is not a SIP URI";
  return read.headers.length > 0 ? "The Request-URI carries header fields" : undefined;
}

function isFolded(line: string | undefined): line is string {
  const first = line?.[0];
  return (first === " " || first === "\t") && trimLws(withoutCr(line as string)) !== "";
}

function withoutCr(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
