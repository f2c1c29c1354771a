import { nextTurn } from "../../base/turn-budget.ts";

/** Overhead of a message in addition to its bytes: at most 8,192 messages wait. */
const OVERHEAD_BYTES = 1024;
/** Number of messages that are processed in one turn of the event loop. */
const MESSAGES_PER_TURN = 256;
/** Minimum size of a long queue, bytes. */
const HIGH_WATER_BYTES: number = 6 << 20;
/** Size at which the queue is no longer long, bytes. */
const LOW_WATER_BYTES: number = 5 << 20;
/**
 * Maximum size of the queue, bytes: 4 minutes of 16-bit PCM at 16 kHz. Reading continues up to here, so that a message
 * that drops the queue arrives at once.
 */
const MAX_BYTES: number = 8 << 20;

/** Callbacks of a {@link StreamInbox}. */
export interface InboxOptions {
  /** Processes one message; the next follows once the promise has settled. */
  readonly take: (message: string | Uint8Array) => void | Promise<void>;
  /** True if the message drops the audio of all earlier messages, so that it need not wait for them. */
  readonly dropsAudio: (message: string | Uint8Array) => boolean;
  /** Processes a message whose audio is dropped by a later message. */
  readonly skip: (message: string | Uint8Array) => void;
  /** Called when the queue has become long, or short again. */
  readonly onLong: (isLong: boolean) => void;
  /** Called when the queue is full; no more messages are processed. */
  readonly onFull: () => void;
  /** Called when a message could not be processed; no more messages are processed. */
  readonly onBroken: (cause: unknown) => void;
}

/**
 * The messages from a client, processed one at a time in the order of arrival. A message that drops the audio before it
 * is processed at once, even if many messages wait.
 */
export class StreamInbox {
  readonly #options: InboxOptions;
  readonly #waitingMessages: (string | Uint8Array)[] = [];
  #bytes = 0;
  #drainPromise: Promise<void> | undefined;
  #isBacklogged = false;
  #isClosed = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Processes the message, immediately or after the earlier messages. */
  push(message: string | Uint8Array): void {
    if (this.#isClosed) return;
    if (!this.#drainPromise) this.#take(message);
    else if (this.#options.dropsAudio(message)) this.#skipWaiting(message);
    else this.#wait(message);
  }

  /** Resolves when all pending messages have been processed; returns undefined if none is pending. */
  get idle(): Promise<void> | undefined {
    return this.#drainPromise;
  }

  /** True if a waiting message passes the test. */
  some(passes: (message: string | Uint8Array) => boolean): boolean {
    return this.#waitingMessages.some(passes);
  }

  /** Drops the queue and ignores further messages. */
  close(): void {
    this.#isClosed = true;
    this.#waitingMessages.length = 0;
  }

  #take(message: string | Uint8Array): void {
    try {
      const promise = this.#options.take(message);
      if (promise) this.#drainPromise = this.#drain(promise);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  /** Processes all waiting messages, without their audio, and then the message that drops it. */
  #skipWaiting(message: string | Uint8Array): void {
    this.#bytes = 0;
    try {
      for (const skippedMessage of this.#waitingMessages.splice(0))
        if (!this.#isClosed) this.#options.skip(skippedMessage);
      if (!this.#isClosed) void this.#options.take(message);
    } catch (cause) {
      this.#fail(cause);
    }
    if (this.#isBacklogged && !this.#isClosed) this.#setBacklogged(false);
  }

  #wait(message: string | Uint8Array): void {
    this.#bytes += message.length + OVERHEAD_BYTES;
    if (this.#bytes > MAX_BYTES) {
      this.close();
      this.#options.onFull();
      return;
    }
    this.#waitingMessages.push(message);
    if (!this.#isBacklogged && this.#bytes > HIGH_WATER_BYTES) this.#setBacklogged(true);
  }

  async #drain(first: Promise<void>): Promise<void> {
    try {
      await first;
      for (
        let count = 1, next = this.#waitingMessages.shift();
        next !== undefined;
        next = this.#waitingMessages.shift(), count++
      ) {
        this.#bytes -= next.length + OVERHEAD_BYTES;
        if (this.#isBacklogged && this.#bytes <= LOW_WATER_BYTES) this.#setBacklogged(false);
        const promise = this.#options.take(next);
        if (promise) await promise;
        else if (count % MESSAGES_PER_TURN === 0) await nextTurn();
      }
    } catch (cause) {
      this.#fail(cause);
    }
    this.#drainPromise = undefined;
  }

  #setBacklogged(isLong: boolean): void {
    this.#isBacklogged = isLong;
    this.#options.onLong(isLong);
  }

  #fail(cause: unknown): void {
    if (this.#isClosed) return;
    this.close();
    this.#options.onBroken(cause);
  }
}
