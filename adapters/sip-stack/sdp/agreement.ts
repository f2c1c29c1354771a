import { isIP } from "node:net";
import type { CodecName } from "../media/codecs/codec.ts";
import type { StreamSettings } from "../media/engine.ts";
import { codecDemand } from "./demands.ts";
import { codecOf, eventFormatFor, type Format, formatsOf } from "./formats.ts";
import type { AgreedKeys } from "./keys.ts";
import { addressOf, type Direction, directionOf, MIRRORED, ptimeOf, rtcpOf } from "./remote-media.ts";
import { attribute, type Sdp, type SdpMedia } from "./sdp.ts";

/** Our part of an agreement. */
export interface LocalTerms {
  readonly codecs: readonly CodecName[];
  /** The formats in our latest offer. */
  readonly offeredFormats: readonly Format[];
  /** Our address. */
  readonly address: string;
  /** The current settings; undefined before the first agreement. */
  readonly previous: StreamSettings | undefined;
}

/** The audio medium of a remote description. */
export interface RemoteMedia {
  readonly sdp: Sdp;
  readonly media: SdpMedia;
  readonly keys: AgreedKeys;
  /** True for an offer from the peer; false for the answer to our offer. */
  readonly isOffer: boolean;
}

/** Result of a negotiation. */
export interface Agreement {
  readonly settings: StreamSettings;
  /** The remote formats for the codec and for telephone-event. */
  readonly formats: readonly Format[];
}

/** The agreement between a remote description and our terms (RFC 3264 sections 6 and 7), or the reason why there is none. */
export function agree(
  { codecs, offeredFormats, address: local, previous }: LocalTerms,
  { sdp, media, keys, isOffer }: RemoteMedia,
): Agreement | string {
  const formats = formatsOf(media);
  const commonFormats = formats.filter((format) => codecs.includes(codecOf(format)!));
  // An answer's order is decisive; from an offer we keep the codec in use if it is listed.
  const currentFormat = isOffer ? commonFormats.find((format) => codecOf(format) === previous?.codec) : undefined;
  const format = currentFormat ?? commonFormats[0];
  const codec = format && codecOf(format);
  if (format === undefined || codec === undefined) return codecDemand(codecs, formats);
  const location = addressOf(sdp, media);
  if (location !== "held" && "fault" in location) return location.fault;
  if (location === "held" && previous === undefined && isOffer) return "the peer's offer has no address for its audio";
  // If an address of zeros signals hold, the peer is still at the previous address.
  const address = location === "held" ? (previous?.remote.address ?? "0.0.0.0") : location.address;
  const families = [address, local].map(isIP).filter((family) => family !== 0);
  if (location !== "held" && families.length === 2 && families[0] !== families[1])
    return `the peer's audio is at ${address}, which cannot be reached from ${local}`;
  const remote = { address, port: location === "held" && previous !== undefined ? previous.remote.port : media.port };
  const rtcpMux = attribute(media, "rtcp-mux") !== undefined;
  const events = eventFormatFor(formats, format);
  const offeredFormat = offeredFormats.find((candidate) => codecOf(candidate) === codec)!;
  const settings: StreamSettings = {
    remote,
    remoteRtcp: rtcpMux ? remote : rtcpOf(media, remote),
    rtcpMux,
    codec,
    payloadType: { send: format.payloadType, receive: isOffer ? format.payloadType : offeredFormat.payloadType },
    telephoneEvent: events && { payloadType: events.payloadType, clockRate: events.clockRate },
    ptimeMs: ptimeOf(media),
    srtp: keys,
    direction: heldDirection(MIRRORED[directionOf(sdp, media)], location === "held"),
  };
  return { settings, formats: events === undefined ? [format] : [format, events] };
}

/** The direction; an address of zeros stops our sending. */
function heldDirection(direction: Direction, isHeld: boolean): Direction {
  if (!isHeld) return direction;
  return direction === "sendrecv" || direction === "recvonly" ? "recvonly" : "inactive";
}
