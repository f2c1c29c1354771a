import type { Socket } from "../../ports/web.ts";

/** Size of the socket's buffer above which new messages are queued here, bytes. */
const MAX_IN_SOCKET_BYTES: number = 64 << 10;
/** Length of an audio frame, ms, and maximum number of queued frames: 5 s. */
const FRAME_MS = 20;
const MAX_FRAMES = 250;
/** Maximum length of queued text, characters. */
const MAX_TEXT: number = 1 << 20;

interface QueuedMessage<T> {
  readonly data: T;
  /** Position among texts and frames together, so that they leave in the order of arrival. */
  readonly order: number;
}

/** Callbacks of a {@link StreamOutbox}. */
export interface OutboxOptions {
  /** Returns the message about dropped audio, ms; undefined if the dialect has none. */
  readonly droppedMessage: (ms: number) => object | undefined;
  /** Called when too much text is queued. */
  readonly onFull: () => void;
}

/**
 * The messages to a client. If the client reads too slowly, text is queued, and the oldest audio is dropped; a message
 * in place of that audio reports its length.
 */
export class StreamOutbox {
  readonly #socket: Socket;
  readonly #options: OutboxOptions;
  #texts: QueuedMessage<string>[] = [];
  #frames: QueuedMessage<string | Uint8Array>[] = [];
  #characterCount = 0;
  #droppedFrames = 0;
  #nextOrder = 0;
  #isDraining = false;
  #isClosed = false;

  constructor(socket: Socket, options: OutboxOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  /** Sends a message that is never dropped. */
  text(message: object): void {
    if (this.#isClosed) return;
    const data = JSON.stringify(message);
    if (this.#isFree) {
      this.#socket.send(data);
      return;
    }
    this.#characterCount += data.length;
    this.#texts.push({ data, order: this.#nextOrder++ });
    if (this.#characterCount > MAX_TEXT) this.#options.onFull();
    else this.#drain();
  }

  /** Sends a frame of audio. */
  audio(data: string | Uint8Array): void {
    if (this.#isClosed) return;
    if (this.#isFree) {
      this.#socket.send(data);
      return;
    }
    this.#frames.push({ data, order: this.#nextOrder++ });
    if (this.#frames.length > MAX_FRAMES) {
      this.#frames.shift();
      this.#droppedFrames++;
    }
    this.#drain();
  }

  /** Passes the whole queue to the socket, which the caller then closes. */
  finish(): void {
    while (this.#sendNext());
    this.close();
  }

  /** Drops the queue and sends no more. */
  close(): void {
    this.#isClosed = true;
    this.#texts = [];
    this.#frames = [];
  }

  get #isFree(): boolean {
    return this.#texts.length + this.#frames.length === 0 && this.#socket.bufferedAmount <= MAX_IN_SOCKET_BYTES;
  }

  #drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    void this.#socket.drained().then(() => {
      this.#isDraining = false;
      while (this.#socket.bufferedAmount <= MAX_IN_SOCKET_BYTES) if (!this.#sendNext()) return;
      this.#drain();
    });
  }

  #sendNext(): boolean {
    const [text] = this.#texts;
    const [frame] = this.#frames;
    if (text && (!frame || text.order < frame.order)) {
      this.#texts.shift();
      this.#characterCount -= text.data.length;
      this.#socket.send(text.data);
      return true;
    }
    if (!frame) return false;
    if (this.#droppedFrames > 0) this.#reportDropped();
    this.#frames.shift();
    this.#socket.send(frame.data);
    return true;
  }

  #reportDropped(): void {
    const message = this.#options.droppedMessage(this.#droppedFrames * FRAME_MS);
    this.#droppedFrames = 0;
    if (message) this.#socket.send(JSON.stringify(message));
  }
}
