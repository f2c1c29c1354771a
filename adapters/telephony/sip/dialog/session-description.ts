import type { SipMessage } from "../message/message.ts";

const TEXT = new TextDecoder();

/** Most bytes of a body that are looked at. */
const MOST_BYTES = 65_536;

/** The type of a body in lower case, without parameters: `application/sdp`; empty where there is no body. */
export function bodyType({ headers, body }: SipMessage): string {
  if (body.length === 0) return "";
  return (headers.get("Content-Type") ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

/** The SDP in a message: its body, or the part of that type in a multipart body (gateways add ISUP to it); undefined without. */
export function sdpOf(message: SipMessage): string | undefined {
  const type = bodyType(message);
  if (type === "application/sdp") return TEXT.decode(message.body.subarray(0, MOST_BYTES));
  if (!type.startsWith("multipart/")) return undefined;
  const boundary = /;\s*boundary="?([^";]{1,70})"?/i.exec(message.headers.get("Content-Type") ?? "")?.[1]?.trim();
  if (boundary === undefined) return undefined;
  for (const part of TEXT.decode(message.body.subarray(0, MOST_BYTES)).split(`--${boundary}`).slice(1)) {
    const blank = part.indexOf("\r\n\r\n");
    if (blank >= 0 && /^content-type:[ \t]*application\/sdp/im.test(part.slice(0, blank))) return part.slice(blank + 4);
  }
  return undefined;
}

/**
 * Whether whoever wrote this SDP does not listen to us: `sendonly`, `inactive`, or the old way, the address 0.0.0.0
 * (RFC 3264 section 8.4). Only the first stream of audio counts.
 */
export function holds(sdp: string): boolean {
  let direction = "sendrecv";
  let address = "";
  let inAudio = false;
  for (const line of sdp.split(/\r?\n/)) {
    if (line.startsWith("m=")) {
      if (inAudio) break;
      inAudio = line.startsWith("m=audio");
      if (!inAudio) break;
    } else if (line.startsWith("c=")) address = line.split(" ")[2] ?? "";
    else if (/^a=(?:sendrecv|sendonly|recvonly|inactive)\s*$/.test(line)) direction = line.slice(2).trim();
  }
  return direction === "sendonly" || direction === "inactive" || address === "0.0.0.0";
}
