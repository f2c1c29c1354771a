import type { SrtpKeys } from "../engine.ts";
import { type Hmac, type Keystream, MAX_PACKET_BYTES, type PacketCipher, packetCipher } from "./packet-cipher.ts";
import { deriveSessionKeys, RTCP_TAG, SUITES } from "./session-keys.ts";
import { SrtpStreams } from "./srtp-stream.ts";

/**
 * SRTP with one master key (RFC 3711): the RTP and RTCP packets in one direction, from any number of sources. It works
 * in place, does not allocate per packet, and never throws.
 */
export interface Srtp {
  /** Maximum number of bytes that protection adds to a packet; the array must have room for them. */
  readonly overhead: number;
  /** Encrypts and authenticates an RTP packet; returns its new length, or -1 if it is not RTP or does not fit. */
  protect(packet: Uint8Array, length: number): number;
  /** Verifies and decrypts an RTP packet; returns its new length, or -1 if it is malformed, forged or replayed. */
  unprotect(packet: Uint8Array, length: number): number;
  /** Encrypts and signs an RTCP (compound) packet. */
  protectRtcp(packet: Uint8Array, length: number): number;
  /** Checks and decrypts an RTCP (compound) packet. */
  unprotectRtcp(packet: Uint8Array, length: number): number;
}

/** @throws {RangeError} the key or the salt has the wrong length for the suite */
export function createSrtp(keys: SrtpKeys, cipher: PacketCipher = packetCipher()): Srtp {
  return new SrtpContext(keys, cipher);
}

const RTP_HEADER = 12;
const RTCP_HEADER = 8;
const INDEX_BYTES = 4;

/** Session keys with the state that uses them, for RTP or for RTCP. */
interface Session {
  readonly keystream: Keystream;
  readonly hmac: Hmac;
}

class SrtpContext implements Srtp {
  readonly overhead: number;
  readonly #keys: SrtpKeys;
  readonly #cipher: PacketCipher;
  readonly #mki: Uint8Array;
  readonly #rtpTag: number;
  readonly #rtp: Session;
  readonly #sentStreams = new SrtpStreams();
  readonly #receivedStreams = new SrtpStreams();
  /** Created with the first RTCP packet: many peers send none. */
  #rtcp: Session | undefined;
  readonly #receivedRtcpStreams = new SrtpStreams();
  /** Index of the next RTCP packet. One index for all sources, so that none is ever used twice. */
  #rtcpIndex = 0;

  constructor(keys: SrtpKeys, cipher: PacketCipher) {
    const sizes = SUITES[keys.suite];
    if (keys.key.length !== sizes.key)
      throw new RangeError(`the master key of ${keys.suite} has ${sizes.key} bytes, not ${keys.key.length}`);
    this.#keys = keys;
    this.#cipher = cipher;
    this.#mki = keys.mki ?? new Uint8Array(0);
    this.#rtpTag = sizes.rtpTag;
    this.overhead = INDEX_BYTES + this.#mki.length + RTCP_TAG;
    this.#rtp = this.#session("rtp");
  }

  protect(packet: Uint8Array, length: number): number {
    const payload = payloadStart(packet, length);
    if (payload < 0 || length + this.#mki.length + this.#rtpTag > packet.length) return -1;
    const ssrc = word(packet, 8);
    const sequence = (packet[2]! << 8) | packet[3]!;
    const stream = this.#sentStreams.find(ssrc) ?? this.#sentStreams.add(ssrc);
    const roc = stream.rollover(sequence);
    // The same packet twice would be encrypted with the same keystream.
    if (!stream.admits(roc, sequence)) return -1;
    stream.record(roc, sequence);
    this.#rtp.keystream.xor(packet, payload, length, ssrc, roc, sequence);
    putWord(packet, length, roc);
    return this.#sign(this.#rtp.hmac.digest(packet, length + 4), packet, length, this.#rtpTag);
  }

  unprotect(packet: Uint8Array, length: number): number {
    const end = length - this.#rtpTag - this.#mki.length;
    const payload = payloadStart(packet, end);
    if (payload < 0) return -1;
    const ssrc = word(packet, 8);
    const sequence = (packet[2]! << 8) | packet[3]!;
    const stream = this.#receivedStreams.find(ssrc);
    let roc = stream === undefined ? 0 : stream.rollover(sequence);
    if (stream !== undefined && !stream.admits(roc, sequence)) return -1;
    if (!this.#isGenuineRtp(packet, end, length, roc)) {
      // A source may have wrapped around before its first packet reached us, while we waited for the answer with the
      // keys.
      if (stream !== undefined || sequence >= 0x8000) return -1;
      roc = 1;
      if (!this.#isGenuineRtp(packet, end, length, roc)) return -1;
    }
    (stream ?? this.#receivedStreams.add(ssrc)).record(roc, sequence);
    this.#rtp.keystream.xor(packet, payload, end, ssrc, roc, sequence);
    return end;
  }

  protectRtcp(packet: Uint8Array, length: number): number {
    if (!isRtcp(packet, length) || length + this.overhead > packet.length) return -1;
    this.#rtcp ??= this.#session("rtcp");
    const { keystream, hmac } = this.#rtcp;
    const index = this.#rtcpIndex;
    this.#rtcpIndex = (index + 1) & 0x7fffffff;
    keystream.xor(packet, RTCP_HEADER, length, word(packet, 4), index >>> 16, index & 0xffff);
    putWord(packet, length, index | 0x80000000);
    return this.#sign(hmac.digest(packet, length + INDEX_BYTES), packet, length + INDEX_BYTES, RTCP_TAG);
  }

  unprotectRtcp(packet: Uint8Array, length: number): number {
    const signedLength = length - RTCP_TAG - this.#mki.length;
    const end = signedLength - INDEX_BYTES;
    if (!isRtcp(packet, end)) return -1;
    const ssrc = word(packet, 4);
    const trailer = word(packet, end);
    const roc = (trailer & 0x7fffffff) >>> 16;
    const sequence = trailer & 0xffff;
    const stream = this.#receivedRtcpStreams.find(ssrc);
    if (stream !== undefined && !stream.admits(roc, sequence)) return -1;
    this.#rtcp ??= this.#session("rtcp");
    const { keystream, hmac } = this.#rtcp;
    if (!isEqualTag(hmac.digest(packet, signedLength), packet, length - RTCP_TAG, RTCP_TAG)) return -1;
    (stream ?? this.#receivedRtcpStreams.add(ssrc)).record(roc, sequence);
    if (trailer < 0) keystream.xor(packet, RTCP_HEADER, end, ssrc, roc, sequence);
    return end;
  }

  #session(protocol: "rtp" | "rtcp"): Session {
    const { cipher, auth, salt } = deriveSessionKeys(this.#keys, protocol);
    return { keystream: this.#cipher.keystream(cipher, salt), hmac: this.#cipher.hmac(auth) };
  }

  /** True if the tag is valid. The signed bytes end with the rollover counter, which temporarily replaces the tag. */
  #isGenuineRtp(packet: Uint8Array, end: number, length: number, roc: number): boolean {
    const tagWord = word(packet, end);
    putWord(packet, end, roc);
    const tag = this.#rtp.hmac.digest(packet, end + 4);
    putWord(packet, end, tagWord);
    return isEqualTag(tag, packet, length - this.#rtpTag, this.#rtpTag);
  }

  #sign(tag: Uint8Array, packet: Uint8Array, end: number, bytes: number): number {
    let at = end;
    for (let i = 0; i < this.#mki.length; i++) packet[at++] = this.#mki[i]!;
    for (let i = 0; i < bytes; i++) packet[at++] = tag[i]!;
    return at;
  }
}

/** Offset of an RTP packet's payload (RFC 3550 section 5.1); -1 if it is not RTP. */
function payloadStart(packet: Uint8Array, end: number): number {
  if (end < RTP_HEADER || end > MAX_PACKET_BYTES || packet[0]! >>> 6 !== 2) return -1;
  let at = RTP_HEADER + 4 * (packet[0]! & 0x0f);
  if ((packet[0]! & 0x10) !== 0) {
    if (at + 4 > end) return -1;
    at += 4 + 4 * ((packet[at + 2]! << 8) | packet[at + 3]!);
  }
  return at <= end ? at : -1;
}

function isRtcp(packet: Uint8Array, end: number): boolean {
  return end >= RTCP_HEADER && end <= MAX_PACKET_BYTES && packet[0]! >>> 6 === 2;
}

/** True if the tags are equal. Compares in constant time. */
function isEqualTag(tag: Uint8Array, packet: Uint8Array, at: number, bytes: number): boolean {
  let difference = 0;
  for (let i = 0; i < bytes; i++) difference |= tag[i]! ^ packet[at + i]!;
  return difference === 0;
}

function word(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

function putWord(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}
