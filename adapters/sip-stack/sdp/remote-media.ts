import { isIP } from "node:net";
import type { StreamSettings } from "../media/engine.ts";
import { isWildcard } from "../transport/addresses.ts";
import type { SocketAddress } from "../transport/transport.ts";
import { attribute, line, type Sdp, type SdpMedia } from "./sdp.ts";

export type Direction = StreamSettings["direction"];

/** Our direction for each direction of the remote description (RFC 3264 section 6.1). */
export const MIRRORED: Readonly<Record<Direction, Direction>> = {
  sendrecv: "sendrecv",
  sendonly: "recvonly",
  recvonly: "sendonly",
  inactive: "inactive",
};

/** The direction of audio that the peer requests. */
export function directionOf(sdp: Sdp, media: SdpMedia): Direction {
  for (const section of [media, sdp])
    for (const direction of Object.keys(MIRRORED) as Direction[])
      if (attribute(section, direction) !== undefined) return direction;
  return "sendrecv";
}

/**
 * The remote address of the audio, or a host name; `held`: the address of zeros, which signalled hold before there were
 * directions (RFC 3264 section 8.4); or the reason why it is unacceptable.
 */
export function addressOf(
  sdp: Sdp,
  media: SdpMedia,
): { readonly address: string } | "held" | { readonly fault: string } {
  const connection = line(media, "c") ?? line(sdp, "c");
  if (connection === undefined) return { fault: "the peer's SDP has no address for its audio (no c= line)" };
  const address = connection.split(/\s+/)[2]?.split("/", 1)[0] ?? "";
  if (isWildcard(address)) return "held";
  if (isIP(address) === 0 && !isHostName(address))
    return { fault: `the peer's SDP names "${address.slice(0, 100)}" for its audio, which is not an address` };
  return { address };
}

/** The remote address of RTCP if it is not multiplexed: the next port unless `a=rtcp` names another (RFC 3605). */
export function rtcpOf(media: SdpMedia, { address, port }: SocketAddress): SocketAddress {
  const [, portText = "", ...rest] = /^(\d{1,5})(?:\s+\S+\s+\S+\s+(\S+))?/.exec(attribute(media, "rtcp") ?? "") ?? [];
  const number = Number(portText);
  if (portText === "" || number < 1 || number > 65_535) return { address, port: Math.min(65_535, port + 1) };
  const [rtcpAddress] = rest;
  return { address: rtcpAddress !== undefined && isIP(rtcpAddress) !== 0 ? rtcpAddress : address, port: number };
}

/** The requested packet length, ms of audio: 20 without a valid request. */
export function ptimeOf(media: SdpMedia): number {
  const requestedMs = Number(attribute(media, "ptime") ?? 20);
  const max = Number(attribute(media, "maxptime") ?? 60);
  const ptime = Math.min(requestedMs, max >= 10 ? max : 60);
  return Number.isInteger(ptime / 10) && ptime >= 10 && ptime <= 60 ? ptime : 20;
}

/**
 * True for labels that consist of letters, digits, hyphens and underscores, unless the last one is a number: that would
 * be a malformed IP address.
 */
function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, "").split(".");
  const hasValidLabels = labels.every((label) => /^\w(?:[\w-]{0,61}\w)?$/.test(label));
  return text.length <= 253 && hasValidLabels && !/^\d+$/.test(labels.at(-1) ?? "");
}
