import { PROGRESS_REQUEST } from "./stream-messages.ts";

type Data = string | Uint8Array<ArrayBuffer>;

/** A message that is not completely sent yet. */
interface PendingMessage {
  readonly data: Data;
  /** Number of bytes already sent. */
  at: number;
  /** True if `clear` keeps the message. */
  readonly survivesClear: boolean;
  readonly settle: (error?: unknown) => void;
}

/** No more audio is sent while the server has queued this much, ms; well below the level of buffer_high. */
const MAX_QUEUED_MS = 20_000;
/** Interval between progress requests in the meantime, ms. */
const POLL_MS = 500;
/** Overhead of a message in addition to its bytes. */
const MESSAGE_BYTES = 64;

/**
 * The messages to the server: each once, in order, over any number of connections.
 *
 * Sent messages are kept until the server confirms them (`StreamProgress`), and at most a window of bytes is
 * unconfirmed, so that after an interruption exactly the missing messages are sent again. The rest waits for the
 * window, for the server to play some audio, or for a connection.
 */
export class Outbox {
  readonly #window: number;
  readonly #maxPendingBytes: number;
  #pendingMessages: PendingMessage[] = [];
  /** Number of bytes of waiting audio. */
  #pendingBytes = 0;
  readonly #unconfirmedMessages: Data[] = [];
  #unconfirmedBytes = 0;
  /** Number of bytes sent since the last progress request. */
  #sinceRequest = 0;
  /** Number of messages that the server has confirmed, by its own count; undefined before the first confirmation. */
  #confirmedCount: number | undefined;
  #send: ((data: Data) => void) | undefined;
  /** True once the server has confirmed its progress on this connection. */
  #isSynchronized = false;
  /** Runs while the server has enough audio queued. */
  #poll: ReturnType<typeof setTimeout> | undefined;
  #drainWaiters: (() => void)[] = [];
  #endError: { readonly error: unknown } | undefined;

  /**
   * @param windowBytes maximum number of unconfirmed bytes
   * @param maxPendingBytes maximum number of bytes of waiting audio; beyond that, `write` rejects
   */
  constructor(windowBytes: number, maxPendingBytes: number) {
    this.#window = windowBytes;
    this.#maxPendingBytes = maxPendingBytes;
  }

  /**
   * Sends audio; resolves when all of it has been sent. Rejects with the error of `overflowError` if too much audio is
   * waiting.
   */
  write(audio: Uint8Array<ArrayBuffer>, overflowError: () => Error): Promise<void> {
    if (this.#pendingBytes > this.#maxPendingBytes) return Promise.reject(overflowError());
    this.#pendingBytes += audio.length;
    return this.#add(audio, false);
  }

  /** Sends a message after everything else. @param survivesClear true if `clear` keeps it */
  send(message: object, survivesClear: boolean): Promise<void> {
    return this.#add(JSON.stringify(message), survivesClear);
  }

  /** Drops the waiting audio and messages, and sends a message in their place. */
  clear(message: object): Promise<void> {
    const droppedMessages = this.#pendingMessages.filter(({ survivesClear }) => !survivesClear);
    const keptMessages = this.#pendingMessages.filter(({ survivesClear }) => survivesClear);
    this.#pendingMessages = [];
    this.#pendingBytes = 0;
    for (const { settle } of droppedMessages) settle();
    const result = this.send(message, true);
    this.#pendingMessages.push(...keptMessages);
    this.#pump();
    if (this.#isSynchronized) this.#requestProgress();
    return result;
  }

  /** Resolves when the server has confirmed everything, or no more will be sent. */
  whenDrained(): Promise<void> {
    if (this.#endError) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drainWaiters.push(resolve);
      this.#pump();
    });
  }

  /** Handles a new connection. */
  onConnected(send: (data: Data) => void): void {
    this.#send = send;
    this.#isSynchronized = false;
    this.#requestProgress();
  }

  /** Handles a lost connection. */
  onDisconnected(): void {
    this.#send = undefined;
    this.#isSynchronized = false;
    this.#stopPolling();
  }

  /** Handles the server's progress. Returns true if it is the first on this connection. */
  progress(messages: number, queuedMs: number): boolean {
    const isFirst = !this.#isSynchronized;
    this.#stopPolling();
    if (queuedMs > MAX_QUEUED_MS) this.#poll = setTimeout(() => this.#requestProgress(), POLL_MS);
    for (
      let count = this.#confirmedCount ?? messages;
      count < messages && this.#unconfirmedMessages.length > 0;
      count++
    )
      this.#unconfirmedBytes -= cost(this.#unconfirmedMessages.shift()!);
    this.#confirmedCount = messages;
    if (isFirst) {
      this.#isSynchronized = true;
      for (const data of this.#unconfirmedMessages) this.#send?.(data);
      this.#sinceRequest = this.#unconfirmedBytes;
    }
    this.#pump();
    return isFirst;
  }

  /** Stops sending; waiting and later messages fail with this error. */
  end(error: unknown): void {
    this.#endError ??= { error };
    this.onDisconnected();
    this.#unconfirmedMessages.length = 0;
    for (const { settle } of this.#pendingMessages.splice(0)) settle(error);
    for (const resolve of this.#drainWaiters.splice(0)) resolve();
  }

  #add(data: Data, survivesClear: boolean): Promise<void> {
    if (this.#endError) return Promise.reject(this.#endError.error);
    return new Promise((resolve, reject) => {
      const settle = (error?: unknown): void => (error === undefined ? resolve() : reject(error));
      this.#pendingMessages.push({ data, at: 0, survivesClear, settle });
      this.#pump();
    });
  }

  #pump(): void {
    if (!this.#isSynchronized) return;
    for (let item = this.#pendingMessages[0]; item !== undefined; item = this.#pendingMessages[0]) {
      if (typeof item.data === "string") this.#deliver(item.data);
      else {
        if (this.#poll !== undefined || this.#unconfirmedBytes >= this.#window) break;
        // A copy, because the caller may reuse the array while this piece is still kept.
        const piece = item.data.slice(item.at, item.at + this.#window / 4);
        item.at += piece.length;
        this.#pendingBytes -= piece.length;
        this.#deliver(piece);
        if (item.at < item.data.length) continue;
      }
      this.#pendingMessages.shift();
      item.settle();
    }
    const isDraining = this.#drainWaiters.length > 0 && this.#pendingMessages.length === 0;
    if (isDraining && this.#unconfirmedMessages.length === 0)
      for (const resolve of this.#drainWaiters.splice(0)) resolve();
    else if (this.#sinceRequest >= this.#window / 4 || (isDraining && this.#sinceRequest > 0)) this.#requestProgress();
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
    this.#unconfirmedMessages.push(data);
    this.#unconfirmedBytes += cost(data);
    this.#sinceRequest += cost(data);
    this.#send?.(data);
  }
}

const cost = (data: Data): number => data.length + MESSAGE_BYTES;
