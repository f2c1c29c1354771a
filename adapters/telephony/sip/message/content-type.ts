import type { SipHeaders } from "./headers.ts";
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
