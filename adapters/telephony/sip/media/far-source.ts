import { canonicalAddress } from "../transport/canonical-address.ts";
import type { SocketAddress } from "../transport/transport.ts";
import type { RtpPacket } from "./rtp-packet.ts";

/** While the present source has been heard within so many ms, no other address is let in. */
const ALIVE_MS = 200;
/** The second packet may be a little ahead of its turn: those between are lost, or overtaken. */
const MOST_AHEAD = 4;
/** Larger datagrams carry no telephone audio. */
const MOST_BYTES = 1500;
const NONE = new Uint8Array(0);

/**
 * What a packet is: of the present source; the first of a source that is believed from now on (`begins`, with a packet
 * that was `held` before it); held, since nobody knows it yet; or somebody else's.
 */
export type Verdict = "present" | "begins" | "held" | "foreign";

/**
 * Which source is the far side (symmetric RTP, RFC 4961). The negotiated address is believed at once. Any other address,
 * once, and another source at the same address, are believed with the second packet that fits, while the present source
 * is silent: so neither strays nor a stranger take a call over.
 */
export class FarSource implements SocketAddress {
  /** Where the far side is: first as negotiated, then as learnt. */
  address = "";
  port = 0;
  /** Of the present source; -1 before its first packet. */
  ssrc = -1;
  /** The first packet of the source that has just begun, as it came, and its length. Zero length: there was none. */
  held: Uint8Array = NONE;
  heldLength = 0;
  #negotiated: SocketAddress = { address: "", port: 0 };
  #moved = false;
  #heardAt = 0;
  #candidate = { address: "", port: 0, ssrc: -1, next: -1 };

  /** What was negotiated; an address that was learnt stays, unless another one was negotiated. */
  negotiated(remote: SocketAddress): void {
    const address = canonicalAddress(remote.address);
    if (address === this.#negotiated.address && remote.port === this.#negotiated.port) return;
    this.#negotiated = { address, port: remote.port };
    this.address = address;
    this.port = remote.port;
    this.ssrc = -1;
    this.#moved = false;
    this.#candidate.ssrc = -1;
  }

  /** Whether this is where the far side is. */
  isAt(address: string, port: number): boolean {
    return port === this.port && address === this.address;
  }

  /** Judges a packet from this address; the array is kept where it is held. */
  judge(packet: RtpPacket, bytes: Uint8Array, length: number, address: string, port: number, now: number): Verdict {
    const here = this.isAt(address, port);
    if (here && packet.ssrc === this.ssrc) {
      this.#heardAt = now;
      this.#candidate.ssrc = -1;
      return "present";
    }
    if (here && this.ssrc < 0) {
      this.heldLength = 0;
      return this.#begin(packet, address, port, now);
    }
    if (!here) {
      if (this.ssrc >= 0 && now - this.#heardAt < ALIVE_MS) return "foreign";
      const negotiated = port === this.#negotiated.port && address === this.#negotiated.address;
      if (this.#moved && !negotiated) return "foreign";
    }
    const candidate = this.#candidate;
    const second =
      candidate.ssrc === packet.ssrc &&
      ((packet.sequence - candidate.next) & 0xffff) < MOST_AHEAD &&
      candidate.port === port &&
      candidate.address === address;
    if (second) {
      if (!here) this.#moved = true;
      return this.#begin(packet, address, port, now);
    }
    if (length > MOST_BYTES) return "foreign";
    candidate.address = address;
    candidate.port = port;
    candidate.ssrc = packet.ssrc;
    candidate.next = (packet.sequence + 1) & 0xffff;
    this.held = bytes;
    this.heldLength = length;
    return "held";
  }

  #begin(packet: RtpPacket, address: string, port: number, now: number): Verdict {
    this.#candidate.ssrc = -1;
    this.address = address;
    this.port = port;
    this.ssrc = packet.ssrc;
    this.#heardAt = now;
    return "begins";
  }
}
