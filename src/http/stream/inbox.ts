/** What a message costs beside its bytes, so that many tiny ones are bounded too. */
const OVERHEAD_BYTES = 256;
/** More than this is long, bytes … */
const LONG_BYTES: number = 256 << 10;
/** … until it is as short as this. */
const SHORT_BYTES: number = 64 << 10;
/** More than this does not wait: at the highest rate of MP3, 320 kbit/s, it is more than 60 s. */
const MOST_BYTES: number = 4 << 20;

/** What is done with the messages of an {@link Inbox}. */
export interface InboxOptions {
  /** Takes one message; while the promise is pending no other is given. */
  readonly take: (message: string | Uint8Array) => void | Promise<void>;
  /** Much has come to wait, or not so much any more. */
  readonly long: (isLong: boolean) => void;
  /** Too much waits; nothing more is taken. */
  readonly full: () => void;
  /** A message could not be taken; nothing more is. */
  readonly broken: (cause: unknown) => void;
}

/** The messages of a client, taken in the order in which they came, one after the other. */
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

  /** Takes the message, at once or when those before it have been taken. */
  push(message: string | Uint8Array): void {
    if (this.#closed) return;
    if (this.#busy) this.#wait(message);
    else this.#take(message);
  }

  /** Resolves when everything that has come was taken; undefined where that is so already. */
  get done(): Promise<void> | undefined {
    return this.#busy;
  }

  /** Drops what waits and takes nothing more. */
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
    if (!this.#isLong && this.#bytes > LONG_BYTES) this.#tell(true);
  }

  async #drain(first: Promise<void>): Promise<void> {
    try {
      await first;
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        this.#bytes -= next.length + OVERHEAD_BYTES;
        if (this.#isLong && this.#bytes <= SHORT_BYTES) this.#tell(false);
        const pending = this.#options.take(next);
        if (pending) await pending;
      }
    } catch (cause) {
      this.#fail(cause);
    }
    this.#busy = undefined;
  }

  #tell(isLong: boolean): void {
    this.#isLong = isLong;
    this.#options.long(isLong);
  }

  #fail(cause: unknown): void {
    if (this.#closed) return;
    this.close();
    this.#options.broken(cause);
  }
}
