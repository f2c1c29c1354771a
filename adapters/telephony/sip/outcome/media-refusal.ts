import { sdpOf } from "../../../sip-stack/dialog/session-description.ts";
import { parseWarning } from "../../../sip-stack/message/header-values.ts";
import type { SipResponse } from "../../../sip-stack/message/sip-message.ts";
import { codecDemand, profileDemand, srtpDemand } from "../../../sip-stack/sdp/demands.ts";
import { codecOf, formatsOf } from "../../../sip-stack/sdp/formats.ts";
import type { SrtpPolicy } from "../../../sip-stack/sdp/keys.ts";
import { parseSdp } from "../../../sip-stack/sdp/sdp.ts";
import type { TrunkCodec } from "../config/trunk-config.ts";

/** The parts of our offer that a peer may refuse. */
export interface OfferTraits {
  readonly codecs?: readonly TrunkCodec[] | undefined;
  readonly srtp?: SrtpPolicy | undefined;
}

/** Statuses that refuse an offer. */
export const OFFER_REFUSED: ReadonlySet<number> = new Set([415, 488, 606]);

const NETWORK = "the peer requires the other IP version (IPv4 or IPv6)";
const FIXES: Readonly<Record<number, (codecs: string, srtp: SrtpPolicy) => string>> = {
  300: () => NETWORK,
  301: () => NETWORK,
  302: (_, srtp) => `the peer wants another profile; check \`srtp\` (${srtp}), and that the peer does not require DTLS`,
  304: (codecs) => `the peer accepts none of our codecs (${codecs}); check \`codecs\``,
  305: (codecs) => `the peer accepts none of our codecs (${codecs}); check \`codecs\``,
};

/**
 * The fix for a refused offer: derived from the peer's own description, if the response has one, otherwise from the
 * code in its Warning (RFC 3261 sections 20.43 and 21.4.26), otherwise from our offer. Undefined if the offer was not
 * refused.
 */
export function mediaRefusal(response: SipResponse, { codecs, srtp }: OfferTraits): string | undefined {
  if (!OFFER_REFUSED.has(response.status) || codecs === undefined || srtp === undefined) return undefined;
  const demand = demandOf(sdpOf(response), codecs, srtp);
  if (demand !== undefined) return demand;
  const names = codecs.join(", ");
  for (const warning of response.headers.list("Warning").map(parseWarning)) {
    const fix = FIXES[warning?.code ?? 0];
    if (fix !== undefined) return fix(names, srtp);
  }
  return `the peer accepts none of our codecs (${names}), or not our \`srtp\` (${srtp}), or requires DTLS; check \`codecs\` and \`srtp\``;
}

function demandOf(text: string | undefined, codecs: readonly TrunkCodec[], srtp: SrtpPolicy): string | undefined {
  const sdp = text === undefined ? undefined : parseSdp(text);
  const media = sdp?.media.find(({ kind }) => kind === "audio");
  if (sdp === undefined || media === undefined) return undefined;
  const formats = formatsOf(media);
  const isCommon = formats.map(codecOf).some((codec) => codec !== undefined && codecs.includes(codec));
  return profileDemand(sdp, media) ?? srtpDemand(media, srtp) ?? (isCommon ? undefined : codecDemand(codecs, formats));
}
