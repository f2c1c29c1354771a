import type { CodecName } from "../media/codecs/codec.ts";
import { codecNames, codecOf, type Format } from "./formats.ts";
import type { SrtpPolicy } from "./keys.ts";
import { attribute, type Sdp, type SdpMedia } from "./sdp.ts";

/** Profiles that we support; all others use DTLS, or are not RTP. */
const SUPPORTED_PROFILES = ["RTP/AVP", "RTP/SAVP", "RTP/AVPF", "RTP/SAVPF"];

/** Reason why no codec was agreed on, and the fix. */
export function codecDemand(offeredCodecs: readonly CodecName[], remoteFormats: readonly Format[]): string {
  const supported = remoteFormats.map(codecOf).filter((codec) => codec !== undefined);
  const fix =
    supported.length > 0
      ? `add ${[...new Set(supported)].join(", ")} to \`codecs\``
      : "the trunk must convert (transcode) between them";
  return `no codec in common: we offer ${offeredCodecs.join(", ")}, the peer accepts ${codecNames(remoteFormats)}; ${fix}`;
}

/**
 * Reason why the profile of a session description is unacceptable: DTLS, which browsers use, or not RTP at all.
 * Undefined if the profile is acceptable.
 */
export function profileDemand(sdp: Sdp, media: SdpMedia): string | undefined {
  const hasAttribute = (name: string): boolean =>
    [media, sdp].some((section) => attribute(section, name) !== undefined);
  const { protocol } = media;
  const isKeyless = protocol.includes("SAVP") && hasAttribute("fingerprint") && !hasAttribute("crypto");
  if (protocol.startsWith("UDP/TLS/") || isKeyless) {
    const protocols = hasAttribute("ice-ufrag") ? "DTLS and ICE" : "DTLS";
    const evidence = isKeyless && SUPPORTED_PROFILES.includes(protocol) ? "a=fingerprint" : protocol.slice(0, 40);
    return `the peer wants ${protocols} (${evidence}), as browsers do; we support plain RTP and SDES-SRTP: configure the peer for one of them, without ICE`;
  }
  if (SUPPORTED_PROFILES.includes(protocol)) return undefined;
  return `the peer wants its audio as ${protocol.slice(0, 40) || "an empty profile"}; we support RTP/AVP and RTP/SAVP`;
}

/** Reason why a description's encryption is unacceptable under the trunk's `srtp`; undefined if it is acceptable. */
export function srtpDemand(media: SdpMedia, srtp: SrtpPolicy): string | undefined {
  const { protocol } = media;
  const isSecure = protocol.includes("SAVP") || attribute(media, "crypto") !== undefined;
  if (protocol.includes("SAVP") && srtp === "off")
    return `the peer wants ${protocol}, but srtp is off; set \`srtp\` to optional or required`;
  if (!isSecure && srtp === "required")
    return `the peer does not encrypt (${protocol}), but srtp is required; set \`srtp\` to optional or off`;
  return undefined;
}
