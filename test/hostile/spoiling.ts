import type { LossyRelayOptions } from "../support/sip/lossy-relay.ts";
import { isolated } from "./namespace.ts";
import { spoilMedia } from "./spoil-media.ts";
import { type Draw, spoilText, staysHome } from "./spoil-text.ts";

const MAX_COPIES = 5;
/** The original is included at a random position. */
const ORIGINAL_COMES = 0.6;
/** Share of audio packets that are corrupted; the machine could not process more. */
const SPOILT_PACKETS = 0.5;

/** Corrupts the packets of a relay, the same way for the same seed, and counts. */
export class Spoiling {
  /** If false, everything passes unchanged. */
  active = true;
  messages = 0;
  packets = 0;
  readonly #draw: Draw;

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  readonly spoils: NonNullable<LossyRelayOptions["spoils"]> = {
    signalling: (datagram) => {
      if (!this.active || datagram.length < 20) return [datagram];
      const all = Array.from({ length: 1 + Math.floor(this.#draw() * MAX_COPIES) }, () => this.#spoilt(datagram));
      this.messages += all.length;
      if (this.#draw() < ORIGINAL_COMES) all.splice(Math.floor(this.#draw() * all.length), 0, datagram);
      return all;
    },
    media: (packet) => {
      if (!this.active || this.#draw() > SPOILT_PACKETS) return [packet];
      const spoilt = [spoilMedia(packet, this.#draw), spoilMedia(packet, this.#draw)];
      this.packets += spoilt.length;
      return [...spoilt, packet];
    },
  };

  #spoilt(datagram: Buffer): Buffer {
    const spoilt = spoilText(datagram, this.#draw);
    return isolated || staysHome(spoilt, datagram) ? spoilt : datagram;
  }
}
