import type { SipHeaders } from "./headers.ts";

/** The option tags in all fields of this name, in lower case: of Require, Supported, Unsupported (RFC 3261 section 19.2). */
export function optionTags(headers: SipHeaders, name: string): string[] {
  return headers.list(name).map((tag) => tag.toLowerCase());
}
