import type { Negotiator } from "../dialog/invite.ts";
import type { CodecName } from "../media/codecs/codec.ts";
import type { StreamSettings } from "../media/engine.ts";
import { agree, type LocalTerms } from "./agreement.ts";
import { profileDemand } from "./demands.ts";
import { type Format, offeredFormats } from "./formats.ts";
import { OfferedKeys, type SrtpOffer, type SrtpPolicy, srtpOffers } from "./keys.ts";
import { LocalDescription } from "./local-description.ts";
import { addressOf } from "./remote-media.ts";
import { parseSdp, type Sdp, type SdpMedia } from "./sdp.ts";

/** Options of {@link createNegotiation}. */
export interface NegotiationOptions {
  /** The codecs, in order of preference; at least one. */
  readonly codecs: readonly CodecName[];
  readonly srtp: SrtpPolicy;
  /** Form of our first offer. Default: the first one that suits `srtp`. */
  readonly profile?: SrtpOffer["profile"] | undefined;
  /** Our address as the peer sees it, and the RTP port of our session. */
  readonly address: string;
  readonly port: number;
  /** Fills the array with random bytes: the session id, and keys. */
  readonly random: (bytes: Uint8Array) => void;
  /** Called after every agreement; its remote address may be a host name. */
  readonly onNegotiated: (settings: StreamSettings, isEarly: boolean) => void;
}

/** One call's offers and answers (RFC 3264): one audio stream; every other medium is rejected. */
export function createNegotiation(options: NegotiationOptions): Negotiator {
  return new Negotiation(options);
}

class Negotiation implements Negotiator {
  readonly #options: NegotiationOptions;
  readonly #keys: OfferedKeys;
  readonly #local: LocalDescription;
  /** The formats in our latest offer. */
  #offeredFormats: readonly Format[];
  /** The formats and the profile in our latest answer; its payload types are the remote ones. */
  #acceptedFormats: readonly Format[] = [];
  #protocol: string;
  #settings: StreamSettings | undefined;

  constructor(options: NegotiationOptions) {
    this.#options = options;
    this.#keys = new OfferedKeys(options.srtp, options.random);
    this.#local = new LocalDescription(options);
    this.#protocol = options.profile ?? srtpOffers(options.srtp)[0].profile;
    this.#offeredFormats = offeredFormats(options.codecs);
  }

  /** Our offer, always complete, even if we accepted less in an answer: it ends a hold (RFC 6337 section 5). */
  offer(newKeys = false): string {
    if (newKeys) this.#keys.renew();
    this.#offeredFormats = offeredFormats(this.#options.codecs, this.#acceptedFormats);
    const keys = this.#keys.offer();
    return this.#local.offer({ protocol: this.#protocol, formats: this.#offeredFormats, rtcpMux: true, keys });
  }

  takeAnswer(text: string, isEarly: boolean): string | undefined {
    const sdp = parseSdp(text);
    if (sdp === undefined) return "the peer's answer is not SDP";
    const media = sdp.media.find(({ kind }) => kind === "audio");
    if (media === undefined) return "the peer's answer has no audio";
    if (media.port === 0) return "the peer rejects audio (port 0 in its answer)";
    const demand = profileDemand(sdp, media);
    if (demand !== undefined) return demand;
    const keys = this.#keys.takeAnswer(media);
    if ("fault" in keys) return keys.fault;
    const agreement = agree(this.#terms, { sdp, media, keys: keys.keys, isOffer: false });
    if (typeof agreement === "string") return agreement;
    this.#applySettings(agreement.settings, isEarly);
    return undefined;
  }

  answerOffer(text: string, isEarly = false): string | undefined {
    const sdp = parseSdp(text);
    if (sdp === undefined) return undefined;
    const audio = sdp.media.filter(({ kind, port }) => kind === "audio" && port !== 0);
    const media = audio.find((candidate) => profileDemand(sdp, candidate) === undefined);
    if (media === undefined) return undefined;
    if (this.#hasMoved(sdp, media)) this.#keys.renew();
    const keys = this.#keys.accept(media);
    const agreement = keys && agree(this.#terms, { sdp, media, keys: keys.keys, isOffer: true });
    if (keys === undefined || agreement === undefined || typeof agreement === "string") return undefined;
    const { settings, formats } = agreement;
    const { protocol } = media;
    this.#acceptedFormats = formats;
    this.#protocol = protocol;
    const localAudio = { protocol, formats, rtcpMux: settings.rtcpMux, keys: keys.lines };
    const answer = this.#local.answer(sdp, media, localAudio, settings.direction);
    this.#applySettings(settings, isEarly);
    return answer;
  }

  confirm(): void {
    if (this.#settings !== undefined) this.#applySettings(this.#settings, false);
  }

  get #terms(): LocalTerms {
    const { codecs, address } = this.#options;
    return { codecs, address, offeredFormats: this.#offeredFormats, previous: this.#settings };
  }

  /** True if an offer moves our audio to another address, or to another receiver there, with another key. */
  #hasMoved(sdp: Sdp, media: SdpMedia): boolean {
    if (this.#settings === undefined) return false;
    const { remote, srtp } = this.#settings;
    const location = addressOf(sdp, media);
    if (
      location !== "held" &&
      "address" in location &&
      (location.address !== remote.address || media.port !== remote.port)
    )
      return true;
    const key = this.#keys.remoteKeys(media);
    return key !== undefined && srtp !== undefined && String(key.key) !== String(srtp.receive.key);
  }

  #applySettings(settings: StreamSettings, isEarly: boolean): void {
    this.#settings = settings;
    this.#options.onNegotiated(settings, isEarly);
  }
}
