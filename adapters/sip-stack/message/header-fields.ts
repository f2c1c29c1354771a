import { isToken, trimLws } from "./grammar.ts";
import { SipHeaders } from "./headers.ts";
import { MAX_FIELDS } from "./limits.ts";
import type { MessageError } from "./message-error.ts";

/** The lines of a header: UTF-8, ended by CRLF or a bare LF. */
export function headerLines(bytes: Uint8Array): string[] {
  const lines = DECODER.decode(bytes).split("\n");
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads header fields up to the first empty line; folded lines are joined by one space (RFC 3261 section 7.3.1). Lines
 * that are no fields are ignored (section 8.2.2). The error is the first fault.
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
