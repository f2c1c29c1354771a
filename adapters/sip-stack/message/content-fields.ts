import type { SipHeaders } from "./headers.ts";
import { MAX_BODY_BYTES } from "./limits.ts";
import type { MessageError } from "./message-error.ts";
import { type Parameterized, parseParameterized } from "./params.ts";

/** The media type of a body, in lower case, with its parameters (RFC 3261 section 20.15): `application/sdp`. */
export function contentType(headers: SipHeaders): Parameterized | undefined {
  const read = parseParameterized(headers.get("Content-Type") ?? "");
  const halves =
    read?.value
      .toLowerCase()
      .split("/")
      .map((half) => half.trim()) ?? [];
  if (read === undefined || halves.length !== 2 || halves.some((half) => half === "" || /\s/.test(half)))
    return undefined;
  return { value: halves.join("/"), params: read.params };
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
