/** Parts of an SDP offer that a remote end uses. */
export interface Offer {
  readonly address: string;
  readonly port: number;
  /** `RTP/AVP`, `RTP/SAVP`. */
  readonly protocol: string;
  /** In the order of the m line. */
  readonly formats: readonly { readonly payloadType: number; readonly name: string; readonly clockRate: number }[];
  readonly direction: string;
  readonly rtcpMux: boolean;
}

const STATIC_FORMATS: Readonly<Record<number, string>> = { 0: "PCMU/8000", 8: "PCMA/8000", 9: "G722/8000" };

/** Reads the audio of an offer. @throws {Error} it has no audio */
export function readOffer(sdp: string): Offer {
  const matchesOf = (pattern: RegExp): RegExpExecArray[] => [...sdp.matchAll(pattern)];
  const audio = /^m=audio (\d+)(?:\/\d+)? (\S+) (.+)$/m.exec(sdp);
  if (!audio) throw new Error(`no audio is offered: ${sdp}`);
  const maps = new Map(matchesOf(/^a=rtpmap:(\d+) (\S+)/gm).map(([, type, map]) => [Number(type), map!]));
  const formats = audio[3]!
    .trim()
    .split(/\s+/)
    .map((type) => {
      const [name = "", clockRate = "0"] = (maps.get(Number(type)) ?? STATIC_FORMATS[Number(type)] ?? "").split("/");
      return { payloadType: Number(type), name, clockRate: Number(clockRate) };
    });
  return {
    address: matchesOf(/^c=IN IP[46] (\S+)/gm).at(-1)?.[1] ?? "",
    port: Number(audio[1]),
    protocol: audio[2]!,
    formats,
    direction: /^a=(sendrecv|sendonly|recvonly|inactive)/m.exec(sdp)?.[1] ?? "sendrecv",
    rtcpMux: /^a=rtcp-mux/m.test(sdp),
  };
}

/** An SDP. `formats` maps payload types to their meaning. */
export function writeSdp(description: {
  readonly version: number;
  readonly address: string;
  readonly port: number;
  readonly protocol?: string;
  readonly formats: readonly (readonly [payloadType: number, map: string])[];
  readonly direction?: string;
  readonly rtcpMux?: boolean;
  /** Address for audio. Default: `address`. */
  readonly connection?: string | undefined;
}): string {
  const family = description.address.includes(":") ? "IP6" : "IP4";
  return [
    "v=0",
    `o=far 1 ${description.version} IN ${family} ${description.address}`,
    "s=-",
    `c=IN ${family} ${description.connection ?? description.address}`,
    "t=0 0",
    `m=audio ${description.port} ${description.protocol ?? "RTP/AVP"} ${description.formats.map(([type]) => type).join(" ")}`,
    ...description.formats.map(([type, map]) => `a=rtpmap:${type} ${map}`),
    ...description.formats
      .filter(([, map]) => map.startsWith("telephone-event"))
      .map(([type]) => `a=fmtp:${type} 0-16`),
    ...(description.rtcpMux ? ["a=rtcp-mux"] : []),
    "a=ptime:20",
    `a=${description.direction ?? "sendrecv"}`,
    "",
  ].join("\r\n");
}
