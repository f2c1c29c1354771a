import type { SipHeaders } from "./headers.ts";

/** The value of Content-Length; undefined where there is none, NaN where it is no length or there are several that differ. */
export function contentLength(headers: SipHeaders): number | undefined {
  const lengths = new Set(
    headers.fields("Content-Length").map((text) => (/^\d{1,15}$/.test(text) ? Number(text) : NaN)),
  );
  return lengths.size > 1 ? NaN : [...lengths][0];
}
