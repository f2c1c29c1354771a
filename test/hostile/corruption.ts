import type { LossyRelayOptions } from "../support/sip/lossy-relay.ts";
import { corruptMedia } from "./corrupt-media.ts";
import { corruptText, type Draw, isLocal } from "./corrupt-text.ts";
import { isIsolated } from "./namespace.ts";

const MAX_COPIES = 5;
/** Share of messages whose original is included, at a random position. */
const ORIGINAL_SHARE = 0.6;
/** Share of audio packets that are corrupted; the machine could not process more. */
const CORRUPTED_SHARE = 0.5;

/** Corrupts the packets of a relay, the same way for the same seed, and counts. */
export class Corruption {
  /** False if everything passes unchanged. */
  active = true;
  messages = 0;
  packets = 0;
  readonly #draw: Draw;

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  readonly corrupt: NonNullable<LossyRelayOptions["corrupt"]> = {
    signalling: (datagram) => {
      if (!this.active || datagram.length < 20) return [datagram];
      const all = Array.from({ length: 1 + Math.floor(this.#draw() * MAX_COPIES) }, () => this.#corruptText(datagram));
      this.messages += all.length;
      if (this.#draw() < ORIGINAL_SHARE) all.splice(Math.floor(this.#draw() * all.length), 0, datagram);
      return all;
    },
    media: (packet) => {
      if (!this.active || this.#draw() > CORRUPTED_SHARE) return [packet];
      const corruptedPackets = [corruptMedia(packet, this.#draw), corruptMedia(packet, this.#draw)];
      this.packets += corruptedPackets.length;
      return [...corruptedPackets, packet];
    },
  };

  #corruptText(datagram: Buffer): Buffer {
    const corruptedDatagram = corruptText(datagram, this.#draw);
    return isIsolated || isLocal(corruptedDatagram, datagram) ? corruptedDatagram : datagram;
  }
}
