import type { SrtpKeys, SrtpSuite } from "../media/engine.ts";
import { newSrtpKeys, parseCrypto, writeCrypto } from "../media/srtp/sdes.ts";
import { srtpDemand } from "./demands.ts";
import { attributes, type SdpLine, type SdpMedia } from "./sdp.ts";

/** Encryption of calls: never, if the peer supports it, or always. */
export type SrtpPolicy = "off" | "optional" | "required";

/** One way to offer encryption, with the profile of the `m=` line. */
export interface SrtpOffer {
  readonly policy: SrtpPolicy;
  readonly profile: "RTP/AVP" | "RTP/SAVP" | "RTP/SAVPF";
}

/**
 * The ways to offer encryption; each is tried after the previous one is rejected. With `optional` the first is RTP/AVP
 * with keys: a peer without SRTP ignores the `a=crypto` lines and answers without encryption; a peer with SRTP answers
 * with its key. Peers without SRTP refuse RTP/SAVP, and many refuse or misread a second m= line for plain audio. RFC
 * 4568 allows keys in secure profiles only, but telephones and PBXs support this "best effort". Some peers accept only
 * RTP/SAVPF, encryption with feedback (RFC 5124).
 */
const OFFERS_BY_POLICY: Readonly<Record<SrtpPolicy, readonly SrtpOffer[]>> = {
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

/** The ways in which a trunk offers encryption, in the order in which they are tried. */
export function srtpOffers(policy: SrtpPolicy): [first: SrtpOffer, ...others: SrtpOffer[]] {
  const [first, ...others] = OFFERS_BY_POLICY[policy];
  return [first!, ...others];
}

/** The offered suites, in order of preference: every peer supports the first, which WhatsApp's documents name. */
const SUITES: readonly SrtpSuite[] = [
  "AES_CM_128_HMAC_SHA1_80",
  "AES_CM_128_HMAC_SHA1_32",
  "AES_256_CM_HMAC_SHA1_80",
  "AES_256_CM_HMAC_SHA1_32",
];

/** Maximum number of keys read from an answer; further keys are ignored. */
const MAX_KEYS = 20;

/** The keys of both directions; undefined for plain RTP. */
export type AgreedKeys = { readonly send: SrtpKeys; readonly receive: SrtpKeys } | undefined;

/** Our SDES keys (RFC 4568): one per suite as long as the audio goes to the same address. */
export class OfferedKeys {
  readonly policy: SrtpPolicy;
  readonly #random: (bytes: Uint8Array) => void;
  readonly #keys = new Map<SrtpSuite, SrtpKeys>();

  constructor(policy: SrtpPolicy, random: (bytes: Uint8Array) => void) {
    this.policy = policy;
    this.#random = random;
  }

  /** The `a=crypto` lines of our offer, numbered from 1. */
  offer(): SdpLine[] {
    if (this.policy === "off") return [];
    return SUITES.map((suite, index) => cryptoLine(index + 1, this.#keysFor(suite)));
  }

  /**
   * The keys that an answer to our offer agrees on, or the reason why it is unacceptable. An answer has one key; if it
   * has several, the first acceptable one is used (RFC 4568 section 5.1.2).
   */
  takeAnswer(media: SdpMedia): { readonly keys: AgreedKeys } | { readonly fault: string } {
    const values = attributes(media, "crypto").slice(0, MAX_KEYS);
    const isSecure = media.protocol.includes("SAVP");
    if (this.policy === "off") {
      const fault = srtpDemand(media, "off");
      return fault === undefined ? { keys: undefined } : { fault };
    }
    if (values.length === 0) {
      const fault = srtpDemand(media, this.policy);
      if (fault !== undefined) return { fault };
      if (isSecure) return { fault: "the peer wants encryption, but its answer has no key (a=crypto)" };
      return { keys: undefined };
    }
    const results = values.map((value) => this.#agreeOn(value));
    return results.find((result) => "keys" in result) ?? results[0]!;
  }

  /** Agrees on one key in an answer. */
  #agreeOn(value: string): { readonly keys: AgreedKeys } | { readonly fault: string } {
    const crypto = parseCrypto(value);
    if (crypto === undefined) return { fault: "the key of the peer's answer (a=crypto) is malformed" };
    const suite = SUITES[crypto.tag - 1];
    if (suite === undefined)
      return { fault: `the peer accepts key ${crypto.tag} of our offer, which has only ${SUITES.length}` };
    if (suite !== crypto.keys.suite)
      return { fault: `the peer answers with ${crypto.keys.suite} for key ${crypto.tag}, which is for ${suite}` };
    return { keys: { send: this.#keysFor(suite), receive: crypto.keys } };
  }

  /** The remote key in an offer that our answer would accept; undefined if there is none. */
  remoteKeys(media: SdpMedia): SrtpKeys | undefined {
    return firstCrypto(media)?.keys;
  }

  /** Our answer to the keys in an offer; undefined if none can be accepted. */
  accept(media: SdpMedia): { readonly keys: AgreedKeys; readonly lines: readonly SdpLine[] } | undefined {
    const isSecure = media.protocol.includes("SAVP");
    const crypto = firstCrypto(media);
    if (this.policy === "off" || crypto === undefined)
      return isSecure || this.policy === "required" ? undefined : { keys: undefined, lines: [] };
    const send = this.#keysFor(crypto.keys.suite);
    return { keys: { send, receive: crypto.keys }, lines: [cryptoLine(crypto.tag, send)] };
  }

  /**
   * Replaces the keys when the audio may go to another receiver: with the old keys it could decrypt earlier audio, and
   * it would not know how many times the sequence numbers have wrapped around (RFC 4568 sections 6.4 and 7.1.4).
   */
  renew(): void {
    this.#keys.clear();
  }

  /** Our key, the same for every offer to the same address: packets in flight could not be decrypted with a new one. */
  #keysFor(suite: SrtpSuite): SrtpKeys {
    const keys = this.#keys.get(suite) ?? newSrtpKeys(suite, this.#random);
    this.#keys.set(suite, keys);
    return keys;
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
