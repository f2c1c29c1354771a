import type { SrtpKeys, SrtpSuite } from "../media/engine.ts";
import { newSrtpKeys, parseCrypto, writeCrypto } from "../media/srtp/sdes.ts";
import { srtpDemand } from "./demands.ts";
import { attributes, type SdpLine, type SdpMedia } from "./sdp.ts";

/** Whether calls are encrypted: never, where the far side does it, or nothing else. */
export type SrtpPolicy = "off" | "optional" | "required";

/** A form in which encryption is offered, with the profile of the `m=` line. */
export interface SrtpOffer {
  readonly policy: SrtpPolicy;
  readonly profile: "RTP/AVP" | "RTP/SAVP" | "RTP/SAVPF";
}

/**
 * The forms of an offer, each for when the one before is refused. With `optional` the first is RTP/AVP with keys in it: a
 * far side without SRTP passes over lines it does not know and answers plainly, one with SRTP answers with its key.
 * RTP/SAVP to begin with would be refused by all that have no SRTP, and a second m= line for plain audio is refused or
 * misread by many. RFC 4568 would have keys in secure profiles only; this "best effort" is what telephones and exchanges
 * have agreed on all the same. RTP/SAVPF, encryption with feedback (RFC 5124), is all that some far sides take.
 */
const OFFERS: Readonly<Record<SrtpPolicy, readonly SrtpOffer[]>> = {
  off: [{ policy: "off", profile: "RTP/AVP" }],
  optional: [
    { policy: "optional", profile: "RTP/AVP" },
    { policy: "required", profile: "RTP/SAVP" },
    { policy: "required", profile: "RTP/SAVPF" },
  ],
  required: [
    { policy: "required", profile: "RTP/SAVP" },
    { policy: "required", profile: "RTP/SAVPF" },
  ],
};

/** The forms that a trunk's offers take, one after another. */
export function srtpOffers(policy: SrtpPolicy): [first: SrtpOffer, ...others: SrtpOffer[]] {
  const [first, ...others] = OFFERS[policy];
  return [first!, ...others];
}

/** In this order: every far side has the first, and WhatsApp's documents name it. */
const SUITES: readonly SrtpSuite[] = [
  "AES_CM_128_HMAC_SHA1_80",
  "AES_CM_128_HMAC_SHA1_32",
  "AES_256_CM_HMAC_SHA1_80",
  "AES_256_CM_HMAC_SHA1_32",
];

/** An answer with more keys is not read to its end. */
const MOST_KEYS = 20;

/** The keys of both directions; undefined: plain RTP. */
export type AgreedKeys = { readonly send: SrtpKeys; readonly receive: SrtpKeys } | undefined;

/** Our side of SDES (RFC 4568): one key of our own per suite, for as long as the audio goes to the same place. */
export class OfferedKeys {
  readonly policy: SrtpPolicy;
  readonly #random: (bytes: Uint8Array) => void;
  readonly #own = new Map<SrtpSuite, SrtpKeys>();

  constructor(policy: SrtpPolicy, random: (bytes: Uint8Array) => void) {
    this.policy = policy;
    this.#random = random;
  }

  /** The `a=crypto` lines of our offer, numbered from 1. */
  offer(): SdpLine[] {
    if (this.policy === "off") return [];
    return SUITES.map((suite, index) => cryptoLine(index + 1, this.#ours(suite)));
  }

  /**
   * What an answer to our offer has settled, or a sentence about why it cannot be used. An answer holds one key; of one
   * that holds more, the first that fits counts (RFC 4568 section 5.1.2).
   */
  answered(media: SdpMedia): { readonly keys: AgreedKeys } | { readonly fault: string } {
    const values = attributes(media, "crypto").slice(0, MOST_KEYS);
    const secure = media.protocol.includes("SAVP");
    if (this.policy === "off") {
      const fault = srtpDemand(media, "off");
      return fault === undefined ? { keys: undefined } : { fault };
    }
    if (values.length === 0) {
      const fault = srtpDemand(media, this.policy);
      if (fault !== undefined) return { fault };
      if (secure) return { fault: "The far side wants to encrypt, but its answer holds no key (a=crypto)." };
      return { keys: undefined };
    }
    const results = values.map((value) => this.#taken(value));
    return results.find((result) => "keys" in result) ?? results[0]!;
  }

  /** What one key of an answer comes to. */
  #taken(value: string): { readonly keys: AgreedKeys } | { readonly fault: string } {
    const crypto = parseCrypto(value);
    if (crypto === undefined) return { fault: "The key in the far side's answer (a=crypto) cannot be used." };
    const suite = SUITES[crypto.tag - 1];
    if (suite === undefined)
      return { fault: `The far side takes key ${crypto.tag} of our offer, which has only ${SUITES.length}.` };
    if (suite !== crypto.keys.suite)
      return { fault: `The far side answers with ${crypto.keys.suite} for key ${crypto.tag}, which is for ${suite}.` };
    return { keys: { send: this.#ours(suite), receive: crypto.keys } };
  }

  /** The key of an offer that our answer would take; undefined: it has none. */
  theirs(media: SdpMedia): SrtpKeys | undefined {
    return firstCrypto(media)?.keys;
  }

  /** Our answer to the keys in an offer; undefined: it cannot be accepted. */
  accept(media: SdpMedia): { readonly keys: AgreedKeys; readonly lines: readonly SdpLine[] } | undefined {
    const secure = media.protocol.includes("SAVP");
    const crypto = firstCrypto(media);
    if (this.policy === "off" || crypto === undefined)
      return secure || this.policy === "required" ? undefined : { keys: undefined, lines: [] };
    const send = this.#ours(crypto.keys.suite);
    return { keys: { send, receive: crypto.keys }, lines: [cryptoLine(crypto.tag, send)] };
  }

  /**
   * The audio may go to somebody else from now on, who gets new keys: with the old ones they could read what was sent
   * before, and could not know how often its sequence numbers have wrapped around (RFC 4568 sections 6.4 and 7.1.4).
   */
  renew(): void {
    this.#own.clear();
  }

  /** The same key for every offer to the same place: with a new one packets on their way could not be understood. */
  #ours(suite: SrtpSuite): SrtpKeys {
    const known = this.#own.get(suite) ?? newSrtpKeys(suite, this.#random);
    this.#own.set(suite, known);
    return known;
  }
}

function firstCrypto(media: SdpMedia): ReturnType<typeof parseCrypto> {
  return attributes(media, "crypto")
    .map(parseCrypto)
    .find((crypto) => crypto !== undefined);
}

function cryptoLine(tag: number, keys: SrtpKeys): SdpLine {
  return { type: "a", value: `crypto:${writeCrypto({ tag, keys })}` };
}
