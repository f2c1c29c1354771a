import { bodyPart } from "../message/body-part.ts";
import type { SipMessage } from "../message/message.ts";

/** Most bytes of SDP that are looked at. */
const MOST_BYTES = 65_536;
const ORIGIN = /^o=.*$/m;

/** The SDP in a message, alone or beside other parts of its body; undefined without. */
export function sdpOf(message: SipMessage): string | undefined {
  const sdp = bodyPart(message, "application/sdp");
  return sdp && new TextDecoder().decode(sdp.subarray(0, MOST_BYTES));
}

/** Whether two descriptions say the same; their o= lines, which count descriptions, may differ. */
export function isSameMedia(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one.replace(ORIGIN, "") === other.replace(ORIGIN, "");
}

/**
 * Whether whoever wrote this SDP does not listen to us: `sendonly`, `inactive`, or the old way, an address of zeros
 * (RFC 3264 section 8.4). Only the first stream of audio counts.
 */
export function holds(sdp: string): boolean {
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
  return direction === "sendonly" || direction === "inactive" || address === "0.0.0.0" || address === "::";
}
