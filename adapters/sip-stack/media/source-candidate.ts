import type { RtpPacket } from "./rtp-packet.ts";

/** Maximum gap to the next packet: packets in between are lost or reordered. */
const MAX_AHEAD = 4;
/** Silence after which any other candidate replaces it, ms. */
const STALE_MS = 200;

/** A source that is accepted after enough consecutive packets. */
export class SourceCandidate {
  /** Number of packets it has sent so far; 0 if there is no candidate. */
  packets = 0;
  #address = "";
  #port = 0;
  #ssrc = -1;
  #next = 0;
  #rank = 0;
  #lastPacketAt = 0;

  /** Number of its packets if its address is unknown, otherwise 0. */
  get untrustedPackets(): number {
    return this.#rank < 2 ? this.packets : 0;
  }

  /** @param rank 2: authentic, or at the peer's address; 1: at its host; 0: anywhere */
  begin(packet: RtpPacket, address: string, port: number, rank: number, now: number): void {
    this.packets = 1;
    this.#address = address;
    this.#port = port;
    this.#ssrc = packet.ssrc;
    this.#rank = rank;
    this.#lastPacketAt = now;
    this.#next = packet.sequence + 1;
  }

  /** Counts a packet; returns true if it is the next one. */
  follows(packet: RtpPacket, address: string, port: number, now: number): boolean {
    if (!this.#isSender(packet, address, port)) return false;
    if (((packet.sequence - this.#next) & 0xffff) >= MAX_AHEAD) return false;
    this.packets++;
    this.#lastPacketAt = now;
    this.#next = packet.sequence + 1;
    return true;
  }

  /** True if it takes precedence over the source of this packet: among equals, the first wins. */
  hasPrecedence(packet: RtpPacket, address: string, port: number, rank: number, now: number): boolean {
    if (this.packets === 0 || now - this.#lastPacketAt >= STALE_MS) return false;
    return this.#rank >= rank && !this.#isSender(packet, address, port);
  }

  clear(): void {
    this.packets = 0;
  }

  #isSender(packet: RtpPacket, address: string, port: number): boolean {
    return this.packets > 0 && packet.ssrc === this.#ssrc && port === this.#port && address === this.#address;
  }
}
