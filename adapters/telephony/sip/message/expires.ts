import type { SipHeaders } from "./headers.ts";
import type { NameAddr } from "./name-addr.ts";
import { parseSeconds } from "./seconds.ts";

/** How long a contact of a registration is good, seconds: its own `expires`, else the field Expires (RFC 3261 section 10.2.4). */
export function expiresOf(contact: NameAddr, headers: SipHeaders): number | undefined {
  return parseSeconds(contact.params.get("expires")) ?? parseSeconds(headers.get("Expires"));
}
