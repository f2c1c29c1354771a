import { ReplayWindow } from "./replay-window.ts";
import { guessRollover } from "./rollover.ts";

/**
 * The packet index of one source. A packet is known by how often the sequence number has wrapped around (`roc`) and the
 * number itself (16 bits); for RTCP these are the upper and the lower bits of its index.
 */
export class Stream {
  readonly ssrc: number;
  readonly #window = new ReplayWindow();
  #roc = 0;
  /** The newest packet's number; -1 before the first. */
  #newest = -1;

  constructor(ssrc: number) {
    this.ssrc = ssrc;
  }

  /** The `roc` of a packet of which only the number is known. */
  rollover(sequence: number): number {
    return this.#newest < 0 ? 0 : guessRollover(this.#roc, this.#newest, sequence);
  }

  /** Whether the packet has not come before, nor is too old to tell. */
  admits(roc: number, sequence: number): boolean {
    return roc >= 0 && (this.#newest < 0 || this.#window.admits(sequence, this.#ahead(roc, sequence)));
  }

  /** The packet has been taken. */
  note(roc: number, sequence: number): void {
    const ahead = this.#newest < 0 ? Number.POSITIVE_INFINITY : this.#ahead(roc, sequence);
    this.#window.note(sequence, ahead);
    if (ahead <= 0) return;
    this.#roc = roc;
    this.#newest = sequence;
  }

  #ahead(roc: number, sequence: number): number {
    return (roc - this.#roc) * 0x10000 + sequence - this.#newest;
  }
}
