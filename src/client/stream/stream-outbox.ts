import { PROGRESS_REQUEST } from "./stream-messages.ts";

type Data = string | Uint8Array<ArrayBuffer>;

/** A message that is not completely sent yet. */
interface Pending {
  readonly data: Data;
  /** Bytes that are already sent. */
  at: number;
  /** `clear` does not drop it. */
  readonly lasting: boolean;
  readonly done: (error?: unknown) => void;
}

/** While the server has more than this queued, no more is sent, ms. It is well below the level of buffer_high. */
const MAX_QUEUED_MS = 20_000;
/** Interval between progress requests in the meantime, ms. */
const POLL_MS = 500;
/** Overhead of a message in addition to its bytes. */
const MESSAGE_BYTES = 64;

/**
 * The messages to the server: each once, in order, over any number of connections.
 *
 * Sent messages are kept until the server confirms them (`StreamProgress`), and at most a window of bytes is
 * unconfirmed, so that after a break exactly the missing messages are sent again. The rest waits for the window, for the
 * server to play some audio, or for a connection.
 */
export class Outbox {
  readonly #window: number;
  readonly #maxWaiting: number;
  #waiting: Pending[] = [];
  /** Bytes of waiting audio. */
  #waitingBytes = 0;
  readonly #sent: Data[] = [];
  #sentBytes = 0;
  /** Bytes sent since the last progress request. */
  #sinceRequest = 0;
  /** Messages that the server has confirmed, by its own count; undefined before the first confirmation. */
  #confirmed: number | undefined;
  #send: ((data: Data) => void) | undefined;
  /** The server has confirmed its progress on this connection. */
  #synchronized = false;
  /** Runs while the server has enough audio queued. */
  #poll: ReturnType<typeof setTimeout> | undefined;
  #drained: (() => void)[] = [];
  #ended: { readonly error: unknown } | undefined;

  /**
   * @param windowBytes maximum unconfirmed bytes
   * @param maxWaitingBytes maximum bytes of waiting audio; beyond it, `write` rejects
   */
  constructor(windowBytes: number, maxWaitingBytes: number) {
    this.#window = windowBytes;
    this.#maxWaiting = maxWaitingBytes;
  }

  /** Sends audio; resolves when all of it has been sent. Rejects with the error of `full` if too much audio is waiting. */
  write(audio: Uint8Array<ArrayBuffer>, full: () => Error): Promise<void> {
    if (this.#waitingBytes > this.#maxWaiting) return Promise.reject(full());
    this.#waitingBytes += audio.length;
    return this.#add(audio, false);
  }

  /** Sends a message after everything else. @param lasting whether `clear` keeps it */
  send(message: object, lasting: boolean): Promise<void> {
    return this.#add(JSON.stringify(message), lasting);
  }

  /** Drops the waiting audio and messages, and sends a message in their place. */
  clear(message: object): Promise<void> {
    const dropped = this.#waiting.filter(({ lasting }) => !lasting);
    const lasting = this.#waiting.filter(({ lasting }) => lasting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const { done } of dropped) done();
    const sent = this.send(message, true);
    this.#waiting.push(...lasting);
    this.#pump();
    if (this.#synchronized) this.#requestProgress();
    return sent;
  }

  /** Resolves when the server has confirmed everything, or no more will be sent. */
  drained(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drained.push(resolve);
      this.#pump();
    });
  }

  /** A connection is open. */
  connected(send: (data: Data) => void): void {
    this.#send = send;
    this.#synchronized = false;
    this.#requestProgress();
  }

  /** Handles a lost connection. */
  disconnected(): void {
    this.#send = undefined;
    this.#synchronized = false;
    this.#stopPolling();
  }

  /** Handles the server's progress. Returns true if it is the first on this connection. */
  progress(messages: number, queuedMs: number): boolean {
    const first = !this.#synchronized;
    this.#stopPolling();
    if (queuedMs > MAX_QUEUED_MS) this.#poll = setTimeout(() => this.#requestProgress(), POLL_MS);
    for (let have = this.#confirmed ?? messages; have < messages && this.#sent.length > 0; have++)
      this.#sentBytes -= cost(this.#sent.shift()!);
    this.#confirmed = messages;
    if (first) {
      this.#synchronized = true;
      for (const data of this.#sent) this.#send?.(data);
      this.#sinceRequest = this.#sentBytes;
    }
    this.#pump();
    return first;
  }

  /** Stops sending; waiting and later messages fail with this error. */
  end(error: unknown): void {
    this.#ended ??= { error };
    this.disconnected();
    this.#sent.length = 0;
    for (const { done } of this.#waiting.splice(0)) done(error);
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #add(data: Data, lasting: boolean): Promise<void> {
    if (this.#ended) return Promise.reject(this.#ended.error);
    return new Promise((resolve, reject) => {
      const done = (error?: unknown): void => (error === undefined ? resolve() : reject(error));
      this.#waiting.push({ data, at: 0, lasting, done });
      this.#pump();
    });
  }

  #pump(): void {
    if (!this.#synchronized) return;
    for (let item = this.#waiting[0]; item !== undefined; item = this.#waiting[0]) {
      if (typeof item.data === "string") this.#deliver(item.data);
      else {
        if (this.#poll !== undefined || this.#sentBytes >= this.#window) break;
        // A copy, because the caller may reuse the array while this piece is still kept.
        const piece = item.data.slice(item.at, item.at + this.#window / 4);
        item.at += piece.length;
        this.#waitingBytes -= piece.length;
        this.#deliver(piece);
        if (item.at < item.data.length) continue;
      }
      this.#waiting.shift();
      item.done();
    }
    const isLeaving = this.#drained.length > 0 && this.#waiting.length === 0;
    if (isLeaving && this.#sent.length === 0) for (const resolve of this.#drained.splice(0)) resolve();
    else if (this.#sinceRequest >= this.#window / 4 || (isLeaving && this.#sinceRequest > 0)) this.#requestProgress();
  }

  #requestProgress(): void {
    this.#sinceRequest = 0;
    this.#send?.(PROGRESS_REQUEST);
  }

  #stopPolling(): void {
    clearTimeout(this.#poll);
    this.#poll = undefined;
  }

  #deliver(data: Data): void {
    this.#sent.push(data);
    this.#sentBytes += cost(data);
    this.#sinceRequest += cost(data);
    this.#send?.(data);
  }
}

const cost = (data: Data): number => data.length + MESSAGE_BYTES;
