import type { TrunkCodec } from "../config/trunk.ts";
import { codecNames, codecOf, type Format } from "./formats.ts";
import type { SrtpPolicy } from "./keys.ts";
import { attribute, type Sdp, type SdpMedia } from "./sdp.ts";

/** Profiles that carry what we send; the others are DTLS, or no audio at all. */
const PROFILES = ["RTP/AVP", "RTP/SAVP", "RTP/AVPF", "RTP/SAVPF"];

/** What is to be done about codecs of which none is ours: two sentences, the second is the fix. */
export function codecDemand(ours: readonly TrunkCodec[], theirs: readonly Format[]): string {
  const known = theirs.map(codecOf).filter((codec) => codec !== undefined);
  const fix =
    known.length > 0
      ? `Add ${[...new Set(known)].join(", ")} to \`codecs\`.`
      : "The trunk must convert (transcode) between them.";
  return `No codec in common: we offer ${ours.join(", ")}, the far side takes ${codecNames(theirs)}. ${fix}`;
}

/** What a description's profile asks for, if we do not have it: DTLS, as browsers do, or no RTP at all. */
export function profileDemand(sdp: Sdp, media: SdpMedia): string | undefined {
  const has = (name: string): boolean => [media, sdp].some((section) => attribute(section, name) !== undefined);
  const { protocol } = media;
  const keyless = protocol.includes("SAVP") && has("fingerprint") && !has("crypto");
  if (protocol.startsWith("UDP/TLS/") || keyless) {
    const what = has("ice-ufrag") ? "DTLS and ICE" : "DTLS";
    const found = keyless && PROFILES.includes(protocol) ? "a=fingerprint" : protocol.slice(0, 40);
    return `The far side wants ${what} (${found}), as browsers do; we have plain RTP and SDES-SRTP. Set one of them there, without ICE.`;
  }
  if (PROFILES.includes(protocol)) return undefined;
  return `The far side wants its audio as ${protocol.slice(0, 40) || "nothing we know"}; we do RTP/AVP and RTP/SAVP.`;
}

/** What a description's encryption asks for, if the trunk's `srtp` stands against it. */
export function srtpDemand(media: SdpMedia, srtp: SrtpPolicy): string | undefined {
  const { protocol } = media;
  const secure = protocol.includes("SAVP") || attribute(media, "crypto") !== undefined;
  if (protocol.includes("SAVP") && srtp === "off")
    return `The far side wants ${protocol}, but srtp is off. Set \`srtp\` to optional or required.`;
  if (!secure && srtp === "required")
    return `The far side does not encrypt (${protocol}), but srtp is required. Set \`srtp\` to optional or off.`;
  return undefined;
}
