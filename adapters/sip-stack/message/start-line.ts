import { isToken, skipLws, trimLws } from "./grammar.ts";
import type { MessageError } from "./message-error.ts";
import { parseUri } from "./uri.ts";

/** The start line of a message (RFC 3261 section 7). */
export type StartLine =
  | { readonly kind: "request"; readonly method: string; readonly uri: string }
  | { readonly kind: "response"; readonly status: number; readonly reason: string };

/** The result of reading a start line, with its fault; without `start` it is neither a Request-Line nor a Status-Line. */
export type ReadStartLine =
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
  const read = parseUri(uri);
  if (read === undefined) return "The Request-URI is not a SIP URI";
  return read.headers.length > 0 ? "The Request-URI contains header fields" : undefined;
}
