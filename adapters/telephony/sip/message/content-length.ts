import type { Complaint } from "./complaint.ts";
import type { SipHeaders } from "./headers.ts";
import { MAX_BODY_BYTES } from "./limits.ts";

/** The value of Content-Length (RFC 3261 section 20.14): undefined where there is none, else a length or what is wrong with it. */
export function contentLength(headers: SipHeaders): number | Complaint | undefined {
  const values = headers.fields("Content-Length");
  const lengths = new Set(values.map((text) => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN)));
  const [length] = lengths;
  if (length === undefined) return undefined;
  if (lengths.size > 1 || Number.isNaN(length)) return { status: 400, detail: "Content-Length is not one number" };
  return length > MAX_BODY_BYTES ? TOO_LARGE : length;
}

const TOO_LARGE: Complaint = { status: 413, detail: `The body is larger than ${MAX_BODY_BYTES / 1024} KiB` };
