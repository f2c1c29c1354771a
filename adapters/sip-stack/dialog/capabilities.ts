import type { HeaderField } from "./agent.ts";

/** Allow (RFC 3261 section 20.5): the methods we understand, within a dialog or outside of one. */
export const ALLOW: HeaderField = ["Allow", "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, NOTIFY"];

/** Accept (RFC 3261 section 20.1): the bodies we understand. */
export const ACCEPT: HeaderField = ["Accept", "application/sdp, application/dtmf-relay, application/dtmf"];

/** Option tags of the extensions we support (RFC 3261 section 19.2). */
export type Extension = "timer" | "100rel";

export const EXTENSIONS: readonly Extension[] = ["timer", "100rel"];

/** The fields of our 200 to OPTIONS (RFC 3261 section 11.2). */
export const CAPABILITIES: readonly HeaderField[] = [ALLOW, ACCEPT, ["Supported", EXTENSIONS.join(", ")]];

/** The unknown option tags of a Require list; a request with any is refused with 420 (RFC 3261 section 8.2.2.3). */
export function unknownExtensions(required: readonly string[]): string[] {
  return required.filter((tag) => !EXTENSIONS.some((known) => known === tag.toLowerCase()));
}
