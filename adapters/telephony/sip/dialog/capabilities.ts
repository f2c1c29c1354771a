import type { HeaderField } from "./agent.ts";

/** The methods we understand, within a dialog or outside of one. */
export const ALLOW: HeaderField = ["Allow", "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK"];

/** The bodies we understand. */
export const ACCEPT: HeaderField = ["Accept", "application/sdp, application/dtmf-relay, application/dtmf"];

/** The extensions we know, by their option tags (RFC 3261 section 19.2). */
export type Extension = "timer" | "100rel";

export const EXTENSIONS: readonly Extension[] = ["timer", "100rel"];

/** What an OPTIONS wants to know (RFC 3261 section 11.2). */
export const CAPABILITIES: readonly HeaderField[] = [ALLOW, ACCEPT, ["Supported", EXTENSIONS.join(", ")]];

/** Those of a Require list that we do not know; a request with any is refused with 420 (RFC 3261 section 8.2.2.3). */
export function unknownExtensions(required: readonly string[]): string[] {
  return required.filter((tag) => !EXTENSIONS.some((known) => known === tag.toLowerCase()));
}
