import type { RtpPacket } from "./rtp-packet.ts";

/** The next packet may be a little ahead of its turn: those between are lost, or overtaken. */
const MOST_AHEAD = 4;
/** Without a packet for this long it gives way to any other, ms. */
const STALE_MS = 200;

/** A source that may become the peer's, once enough of its packets have followed one another. */
export class SourceCandidate {
  /** Its packets so far; 0: there is none. */
  packets = 0;
  #address = "";
  #port = 0;
  #ssrc = -1;
  #next = 0;
  #rank = 0;
  #heardAt = 0;

  /** Its packets, if it comes from where nobody is known to be. */
  get strangers(): number {
    return this.#rank < 2 ? this.packets : 0;
  }

  /** @param rank 2: authentic, or where the peer is; 1: at its host; 0: anywhere */
  begin(packet: RtpPacket, address: string, port: number, rank: number, now: number): void {
    this.packets = 1;
    this.#address = address;
    this.#port = port;
    this.#ssrc = packet.ssrc;
    this.#rank = rank;
    this.#heardAt = now;
    this.#next = packet.sequence + 1;
  }

  /** Whether the packet is its next one; then it is counted. */
  follows(packet: RtpPacket, address: string, port: number, now: number): boolean {
    if (!this.#sends(packet, address, port)) return false;
    if (((packet.sequence - this.#next) & 0xffff) >= MOST_AHEAD) return false;
    this.packets++;
    this.#heardAt = now;
    this.#next = packet.sequence + 1;
    return true;
  }

  /** Whether it stands before the source of this packet: of two that speak at once, the first is weighed. */
  standsBefore(packet: RtpPacket, address: string, port: number, rank: number, now: number): boolean {
    if (this.packets === 0 || now - this.#heardAt >= STALE_MS) return false;
    return this.#rank >= rank && !this.#sends(packet, address, port);
  }

  clear(): void {
    this.packets = 0;
  }

  #sends(packet: RtpPacket, address: string, port: number): boolean {
    return this.packets > 0 && packet.ssrc === this.#ssrc && port === this.#port && address === this.#address;
  }
}
