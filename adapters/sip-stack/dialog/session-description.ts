import { bodyPart } from "../message/body-part.ts";
import type { SipMessage } from "../message/sip-message.ts";
import { isWildcard } from "../transport/addresses.ts";

/** Maximum length of an SDP body that is read, bytes. */
const MAX_BYTES = 65_536;
const ORIGIN = /^o=.*$/m;

/** The SDP (RFC 8866) in a message, alone or as one part of its body; undefined if there is none. */
export function sdpOf(message: SipMessage): string | undefined {
  const sdp = bodyPart(message, "application/sdp");
  return sdp && new TextDecoder().decode(sdp.subarray(0, MAX_BYTES));
}

/** True if two descriptions are the same apart from their o= lines, which contain a version number. */
export function isSameMedia(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a.replace(ORIGIN, "") === b.replace(ORIGIN, "");
}

/**
 * True if this SDP puts us on hold: `sendonly`, `inactive`, or an address of zeros as in RFC 2543 (RFC 3264
 * section 8.4). Only the first audio stream counts.
 */
export function putsOnHold(sdp: string): boolean {
  let direction = "sendrecv";
  let address = "";
  let section: "session" | "audio" | "other" = "session";
  for (const line of sdp.split(/\r?\n/)) {
    if (line.startsWith("m=")) {
      if (section === "audio") break;
      section = line.startsWith("m=audio") ? "audio" : "other";
    } else if (section === "other") continue;
    else if (line.startsWith("c=")) address = line.split(" ")[2] ?? "";
    else if (/^a=(?:sendrecv|sendonly|recvonly|inactive)\s*$/.test(line)) direction = line.slice(2).trim();
  }
  return direction === "sendonly" || direction === "inactive" || isWildcard(address);
}
