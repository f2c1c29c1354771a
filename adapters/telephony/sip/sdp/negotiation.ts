import { isIP } from "node:net";
import type { TrunkCodec } from "../config/trunk.ts";
import type { Negotiator } from "../dialog/invite.ts";
import type { StreamSettings } from "../media/engine.ts";
import { codecDemand, profileDemand } from "./demands.ts";
import { codecOf, type Format, formatLines, formatsOf, keysBeside, offeredFormats } from "./formats.ts";
import { type AgreedKeys, OfferedKeys, type SrtpOffer, type SrtpPolicy, srtpOffers } from "./keys.ts";
import { addressOf, type Direction, directionOf, MIRRORED, ptimeOf, rtcpOf } from "./remote-media.ts";
import { attribute, parseSdp, type Sdp, type SdpLine, type SdpMedia, writeSdp } from "./sdp.ts";

const PTIME_MS = 20;

/** What a negotiation is about. */
export interface NegotiationOptions {
  /** In the order of preference; at least one. */
  readonly codecs: readonly TrunkCodec[];
  readonly srtp: SrtpPolicy;
  /** Of our first offer. Default: the first that goes with `srtp`. */
  readonly profile?: SrtpOffer["profile"] | undefined;
  /** Where the far side is to send its audio: our address as it sees it, and the port of our session. */
  readonly address: string;
  readonly port: number;
  /** Fills the array with random bytes: keys, and the number of the session. */
  readonly random: (bytes: Uint8Array) => void;
  /** The two sides have agreed, for the first time or anew; the far side may have named a host instead of an address. */
  readonly settled: (settings: StreamSettings, early: boolean) => void;
}

/** Offer and answer of one call (RFC 3264): one audio stream, everything else is refused. */
export function createNegotiation(options: NegotiationOptions): Negotiator {
  return new Negotiation(options);
}

interface Agreed {
  readonly settings: StreamSettings;
  /** Their format of our codec, and of keys. */
  readonly formats: readonly Format[];
}

class Negotiation implements Negotiator {
  readonly #options: NegotiationOptions;
  readonly #keys: OfferedKeys;
  readonly #sessionId: number;
  /** What our latest offer names. */
  #offered: readonly Format[];
  /** What our latest answer has accepted: its formats, in the far side's numbers, and its profile. */
  #accepted: readonly Format[] = [];
  #protocol: string;
  #version = 0;
  /** Our last description: its media, the text without its o= line, and the whole text. */
  #media: readonly SdpMedia[] = [];
  #body = "";
  #local = "";
  #settings: StreamSettings | undefined;

  constructor(options: NegotiationOptions) {
    this.#options = options;
    this.#keys = new OfferedKeys(options.srtp, options.random);
    this.#protocol = options.profile ?? srtpOffers(options.srtp)[0].profile;
    this.#offered = offeredFormats(options.codecs);
    const lot = new Uint32Array(1);
    options.random(new Uint8Array(lot.buffer));
    this.#sessionId = lot[0]!;
  }

  /** Always complete, whatever an answer of ours has accepted: a hold ends with our offer (RFC 6337 section 5). */
  offer(anew = false): string {
    if (anew) this.#keys.renew();
    this.#offered = offeredFormats(this.#options.codecs, this.#accepted);
    const more = [
      ...this.#keys.offer(),
      ...(this.#offered.some(isOpus) ? [a(`maxptime:${PTIME_MS}`)] : []),
      a("rtcp-mux"),
    ];
    const audio = this.#audio(this.#protocol, this.#offered, "sendrecv", more);
    // A later offer has every m= line of the description before it, in the same order (RFC 3264 section 8).
    this.#say(this.#media.length === 0 ? [audio] : this.#media.map((media) => (media.port === 0 ? media : audio)));
    return this.#local;
  }

  answered(text: string, early: boolean): string | undefined {
    const sdp = parseSdp(text);
    if (sdp === undefined) return "The far side's answer is not SDP.";
    const media = sdp.media.find(({ kind }) => kind === "audio");
    if (media === undefined) return "The far side's answer has no audio in it.";
    if (media.port === 0) return "The far side refuses audio (port 0 in its answer).";
    const wrong = profileDemand(sdp, media);
    if (wrong !== undefined) return wrong;
    const keys = this.#keys.answered(media);
    if ("fault" in keys) return keys.fault;
    const agreed = this.#agree(sdp, media, keys.keys, false);
    if (typeof agreed === "string") return agreed;
    this.#settle(agreed.settings, early);
    return undefined;
  }

  reoffered(text: string, early = false): string | undefined {
    const sdp = parseSdp(text);
    if (sdp === undefined) return undefined;
    const audio = sdp.media.filter(({ kind, port }) => kind === "audio" && port !== 0);
    const chosen = audio.find((media) => profileDemand(sdp, media) === undefined);
    if (chosen === undefined) return undefined;
    if (this.#isElsewhere(sdp, chosen)) this.#keys.renew();
    const keys = this.#keys.accept(chosen);
    const agreed = keys && this.#agree(sdp, chosen, keys.keys, true);
    if (keys === undefined || agreed === undefined || typeof agreed === "string") return undefined;
    const { settings, formats } = agreed;
    const more = [...keys.lines, ...(settings.rtcpMux ? [a("rtcp-mux")] : [])];
    this.#accepted = formats;
    this.#protocol = chosen.protocol;
    this.#say(
      sdp.media.map((media) =>
        media === chosen ? this.#audio(media.protocol, formats, settings.direction, more) : refused(media),
      ),
    );
    this.#settle(settings, early);
    return this.#local;
  }

  confirmed(): void {
    if (this.#settings !== undefined) this.#settle(this.#settings, false);
  }

  /** What the far side's description means, or a sentence about why we cannot do it. @param theirs it is an offer */
  #agree(sdp: Sdp, media: SdpMedia, keys: AgreedKeys, theirs: boolean): Agreed | string {
    const formats = formatsOf(media);
    const common = formats.filter((format) => this.#options.codecs.includes(codecOf(format)!));
    // The order of an answer is decisive; from an offer we keep the running codec if it is listed.
    const running = theirs ? common.find((format) => codecOf(format) === this.#settings?.codec) : undefined;
    const format = running ?? common[0];
    const codec = format && codecOf(format);
    if (format === undefined || codec === undefined) return codecDemand(this.#options.codecs, formats);
    const named = addressOf(sdp, media);
    if (named !== "held" && "fault" in named) return named.fault;
    const before = this.#settings?.remote;
    if (named === "held" && before === undefined && theirs) return "The far side does not say where its audio is.";
    // Held by an address of zeros, the far side is still where it was.
    const address = named === "held" ? (before?.address ?? "0.0.0.0") : named.address;
    const families = [address, this.#options.address].map(isIP).filter((family) => family !== 0);
    if (named !== "held" && families.length === 2 && families[0] !== families[1])
      return `The far side's audio is at ${address}, which cannot be reached from ${this.#options.address}.`;
    const remote = { address, port: named === "held" && before !== undefined ? before.port : media.port };
    const rtcpMux = attribute(media, "rtcp-mux") !== undefined;
    const event = keysBeside(formats, format);
    const ours = this.#offered.find((own) => codecOf(own) === codec)!;
    const settings: StreamSettings = {
      remote,
      remoteRtcp: rtcpMux ? remote : rtcpOf(media, remote),
      rtcpMux,
      codec,
      payloadType: { send: format.payloadType, receive: theirs ? format.payloadType : ours.payloadType },
      telephoneEvent: event && { payloadType: event.payloadType, clockRate: event.clockRate },
      ptimeMs: ptimeOf(media),
      srtp: keys,
      direction: heldDirection(MIRRORED[directionOf(sdp, media)], named === "held"),
    };
    return { settings, formats: event === undefined ? [format] : [format, event] };
  }

  /** Whether an offer wants our audio at another place, or for somebody else there: with another key. */
  #isElsewhere(sdp: Sdp, media: SdpMedia): boolean {
    if (this.#settings === undefined) return false;
    const { remote, srtp } = this.#settings;
    const named = addressOf(sdp, media);
    if (named !== "held" && "address" in named && (named.address !== remote.address || media.port !== remote.port))
      return true;
    const theirs = this.#keys.theirs(media);
    return theirs !== undefined && srtp !== undefined && String(theirs.key) !== String(srtp.receive.key);
  }

  #settle(settings: StreamSettings, early: boolean): void {
    this.#settings = settings;
    this.#options.settled(settings, early);
  }

  #audio(protocol: string, formats: readonly Format[], direction: Direction, more: readonly SdpLine[]): SdpMedia {
    return {
      kind: "audio",
      port: this.#options.port,
      protocol,
      formats: formats.map(({ payloadType }) => String(payloadType)),
      lines: [...formatLines(formats), a(`ptime:${PTIME_MS}`), ...more, a(direction)],
    };
  }

  /** Sets our description; it gets a new version if it differs from the previous one (RFC 3264 section 8). */
  #say(media: readonly SdpMedia[]): void {
    const { address } = this.#options;
    const network = `IN ${address.includes(":") ? "IP6" : "IP4"} ${address}`;
    const session = [line("s", "-"), line("c", network), line("t", "0 0")];
    const body = writeSdp({ lines: session, media });
    this.#media = media;
    if (body === this.#body) return;
    this.#body = body;
    this.#version++;
    const origin = line("o", `- ${this.#sessionId} ${this.#version} ${network}`);
    this.#local = writeSdp({ lines: [line("v", "0"), origin, ...session], media });
  }
}

/** An address of zeros takes away what we would have sent. */
function heldDirection(direction: Direction, held: boolean): Direction {
  if (!held) return direction;
  return direction === "sendrecv" || direction === "recvonly" ? "recvonly" : "inactive";
}

function refused(media: SdpMedia): SdpMedia {
  return { ...media, port: 0, lines: [], formats: media.formats.length > 0 ? media.formats : ["0"] };
}

function isOpus(format: Format): boolean {
  return codecOf(format) === "opus";
}

function line(type: string, value: string): SdpLine {
  return { type, value };
}

function a(value: string): SdpLine {
  return line("a", value);
}
