import { pcmToBytes } from "../../../../src/audio/samples/pcm.ts";
import type { Socket } from "../../../../src/ports/web.ts";

/** Number of bytes in the socket above which frames wait here: a quarter of a second at 16 kHz. */
const MAX_IN_SOCKET_BYTES: number = 8 << 10;
/** Maximum number of pending frames: 200 ms. */
const MAX_FRAMES = 10;

/**
 * Sends frames to a phone. If its page reads too slowly, the oldest frames are dropped, so that the page never falls
 * far behind.
 */
export class OutgoingFrames {
  readonly #socket: Socket;
  /** Pending frames, in reused memory. */
  readonly #pending: readonly Int16Array[];
  #firstIndex = 0;
  #count = 0;

  /** @param length number of samples per frame */
  constructor(socket: Socket, length: number) {
    this.#socket = socket;
    this.#pending = Array.from({ length: MAX_FRAMES }, () => new Int16Array(length));
  }

  /** Sends the frame, or keeps a copy of it until the next one if the socket is full. */
  send(frame: Int16Array): void {
    while (this.#count > 0 && this.#isFree) {
      this.#socket.send(pcmToBytes(this.#pending[this.#firstIndex]!));
      this.#dropOldest();
    }
    if (this.#isFree) {
      this.#socket.send(pcmToBytes(frame));
      return;
    }
    if (this.#count === MAX_FRAMES) this.#dropOldest();
    this.#pending[(this.#firstIndex + this.#count) % MAX_FRAMES]!.set(frame);
    this.#count++;
  }

  get #isFree(): boolean {
    return this.#socket.bufferedAmount <= MAX_IN_SOCKET_BYTES;
  }

  #dropOldest(): void {
    this.#firstIndex = (this.#firstIndex + 1) % MAX_FRAMES;
    this.#count--;
  }
}
