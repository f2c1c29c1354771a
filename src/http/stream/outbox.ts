import type { Socket } from "../../ports/web.ts";

/** While the socket holds more than this, what comes waits here, bytes. */
const MOST_IN_SOCKET_BYTES: number = 64 << 10;
/** Length of a frame of audio, ms, and how many of them wait: 5 s. */
const FRAME_MS = 20;
const MOST_FRAMES = 250;
/** Text that waits for a client who does not read at all, characters. */
const MOST_TEXT: number = 1 << 20;

interface Waiting<T> {
  readonly data: T;
  /** Counts texts and frames together, so that they leave in the order in which they came. */
  readonly turn: number;
}

/** What an {@link Outbox} tells. */
export interface OutboxOptions {
  /** The message about audio that was dropped, ms; undefined where there is none. */
  readonly dropped: (ms: number) => object | undefined;
  /** More text waits than may. */
  readonly full: () => void;
}

/**
 * What is sent to a client. One who reads too slowly loses the oldest audio, and is told how much at the place where it
 * is missing; text waits.
 */
export class Outbox {
  readonly #socket: Socket;
  readonly #options: OutboxOptions;
  #texts: Waiting<string>[] = [];
  #frames: Waiting<string | Uint8Array>[] = [];
  #characters = 0;
  #droppedFrames = 0;
  #turn = 0;
  #draining = false;
  #closed = false;

  constructor(socket: Socket, options: OutboxOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  /** A message that is never dropped. */
  text(message: object): void {
    if (this.#closed) return;
    const data = JSON.stringify(message);
    if (this.#isFree) {
      this.#socket.send(data);
      return;
    }
    this.#characters += data.length;
    this.#texts.push({ data, turn: this.#turn++ });
    if (this.#characters > MOST_TEXT) this.#options.full();
    else this.#drain();
  }

  /** A frame of audio. */
  audio(data: string | Uint8Array): void {
    if (this.#closed) return;
    if (this.#isFree) {
      this.#socket.send(data);
      return;
    }
    this.#frames.push({ data, turn: this.#turn++ });
    if (this.#frames.length > MOST_FRAMES) {
      this.#frames.shift();
      this.#droppedFrames++;
    }
    this.#drain();
  }

  /** Hands everything that waits to the socket, which is to be closed behind it. */
  finish(): void {
    while (this.#sendNext());
    this.close();
  }

  /** Drops what waits and sends nothing more. */
  close(): void {
    this.#closed = true;
    this.#texts = [];
    this.#frames = [];
  }

  get #isFree(): boolean {
    return this.#texts.length + this.#frames.length === 0 && this.#socket.bufferedAmount <= MOST_IN_SOCKET_BYTES;
  }

  #drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    void this.#socket.drained().then(() => {
      this.#draining = false;
      while (this.#socket.bufferedAmount <= MOST_IN_SOCKET_BYTES) if (!this.#sendNext()) return;
      this.#drain();
    });
  }

  #sendNext(): boolean {
    const [text] = this.#texts;
    const [frame] = this.#frames;
    if (text && (!frame || text.turn < frame.turn)) {
      this.#texts.shift();
      this.#characters -= text.data.length;
      this.#socket.send(text.data);
      return true;
    }
    if (!frame) return false;
    if (this.#droppedFrames > 0) this.#tellDropped();
    this.#frames.shift();
    this.#socket.send(frame.data);
    return true;
  }

  #tellDropped(): void {
    const message = this.#options.dropped(this.#droppedFrames * FRAME_MS);
    this.#droppedFrames = 0;
    if (message) this.#socket.send(JSON.stringify(message));
  }
}
