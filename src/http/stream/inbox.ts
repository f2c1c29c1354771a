/** Overhead of a message beside its bytes, so that many tiny messages are bounded too. */
const OVERHEAD_BYTES = 256;
/** A queue above this is long, bytes … */
const LONG_BYTES: number = 256 << 10;
/** … until it is down to this. */
const SHORT_BYTES: number = 64 << 10;
/** Largest queue, bytes. At the highest rate of MP3, 320 kbit/s, it holds more than 60 s. */
const MOST_BYTES: number = 4 << 20;

/** Callbacks of an {@link Inbox}. */
export interface InboxOptions {
  /** Takes one message; the next follows once the promise has settled. */
  readonly take: (message: string | Uint8Array) => void | Promise<void>;
  /** The queue has become long, or short again. */
  readonly long: (isLong: boolean) => void;
  /** The queue is full; no more messages are taken. */
  readonly full: () => void;
  /** A message could not be taken; no more messages are taken. */
  readonly broken: (cause: unknown) => void;
}

/** The messages of a client, taken one at a time in the order of arrival. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #waiting: (string | Uint8Array)[] = [];
  #bytes = 0;
  #busy: Promise<void> | undefined;
  #isLong = false;
  #closed = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Takes the message, immediately or after the earlier ones. */
  push(message: string | Uint8Array): void {
    if (this.#closed) return;
    if (this.#busy) this.#wait(message);
    else this.#take(message);
  }

  /** Resolves when all messages so far have been taken; undefined if none is pending. */
  get done(): Promise<void> | undefined {
    return this.#busy;
  }

  /** Drops the queue and takes no more messages. */
  close(): void {
    this.#closed = true;
    this.#waiting.length = 0;
  }

  #take(message: string | Uint8Array): void {
    try {
      const pending = this.#options.take(message);
      if (pending) this.#busy = this.#drain(pending);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  #wait(message: string | Uint8Array): void {
    this.#bytes += message.length + OVERHEAD_BYTES;
    if (this.#bytes > MOST_BYTES) {
      this.close();
      this.#options.full();
      return;
    }
    this.#waiting.push(message);
    if (!this.#isLong && this.#bytes > LONG_BYTES) this.#setLong(true);
  }

  async #drain(first: Promise<void>): Promise<void> {
    try {
      await first;
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        this.#bytes -= next.length + OVERHEAD_BYTES;
        if (this.#isLong && this.#bytes <= SHORT_BYTES) this.#setLong(false);
        const pending = this.#options.take(next);
        if (pending) await pending;
      }
    } catch (cause) {
      this.#fail(cause);
    }
    this.#busy = undefined;
  }

  #setLong(isLong: boolean): void {
    this.#isLong = isLong;
    this.#options.long(isLong);
  }

  #fail(cause: unknown): void {
    if (this.#closed) return;
    this.close();
    this.#options.broken(cause);
  }
}
