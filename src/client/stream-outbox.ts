import { ASK_FOR_PROGRESS } from "./stream-messages.ts";

type Data = string | Uint8Array<ArrayBuffer>;

/** Something that has not been sent, or not all of it. */
interface Waiting {
  readonly data: Data;
  /** How much of it was sent. */
  at: number;
  /** It goes although what waits is dropped. */
  readonly lasting: boolean;
  readonly done: (error?: unknown) => void;
}

/**
 * With more than this waiting at the server it gets no more, ms: well below where it says buffer_high and stops reading,
 * so that a clear never stands behind audio.
 */
const MOST_QUEUED_MS = 20_000;
/** How often it is asked meanwhile, ms. */
const LATER_MS = 500;
/** What a message costs beside its bytes. */
const MESSAGE_BYTES = 64;

/**
 * What goes to the server: everything once, in order, over as many connections as it takes.
 *
 * What was sent is kept until the server says that it has it (`StreamProgress`), and no more than a window of bytes
 * may be on its way: after a break exactly what is missing is sent again. The rest waits for the window, for the server
 * to have played something, or for a connection.
 */
export class Outbox {
  readonly #window: number;
  readonly #mostWaiting: number;
  #waiting: Waiting[] = [];
  /** Of audio. */
  #waitingBytes = 0;
  readonly #sent: Data[] = [];
  #sentBytes = 0;
  /** Bytes that were sent since the server was asked how far it is. */
  #unasked = 0;
  /** Messages that the server has, in its own count; undefined before it has said a number. */
  #confirmed: number | undefined;
  #send: ((data: Data) => void) | undefined;
  /** It is known what this connection's server has. */
  #agreed = false;
  /** Runs while the server has enough to play. */
  #later: ReturnType<typeof setTimeout> | undefined;
  #drained: (() => void)[] = [];
  #ended: { readonly error: unknown } | undefined;

  /**
   * @param windowBytes what may be on its way
   * @param mostWaitingBytes what may wait behind that before more is refused
   */
  constructor(windowBytes: number, mostWaitingBytes: number) {
    this.#window = windowBytes;
    this.#mostWaiting = mostWaitingBytes;
  }

  /** Sends audio; resolves when the last of it is on its way. @throws what `full` makes, where too much waits */
  write(audio: Uint8Array<ArrayBuffer>, full: () => Error): Promise<void> {
    if (this.#waitingBytes > this.#mostWaiting) return Promise.reject(full());
    this.#waitingBytes += audio.length;
    return this.#add(audio, false);
  }

  /** Sends a message behind everything else. @param lasting it goes although what waits is dropped */
  tell(message: object, lasting: boolean): Promise<void> {
    return this.#add(JSON.stringify(message), lasting);
  }

  /** Drops what waits, and sends a message in its place. */
  clear(message: object): Promise<void> {
    const dropped = this.#waiting.filter(({ lasting }) => !lasting);
    const lasting = this.#waiting.filter(({ lasting }) => lasting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const { done } of dropped) done();
    const told = this.tell(message, true);
    this.#waiting.push(...lasting);
    this.#pump();
    if (this.#agreed) this.#ask();
    return told;
  }

  /** Resolves when the server has everything, or will get nothing more. */
  drained(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drained.push(resolve);
      this.#pump();
    });
  }

  /** There is a connection. */
  connected(send: (data: Data) => void): void {
    this.#send = send;
    this.#agreed = false;
    this.#ask();
  }

  /** There is none any more. */
  disconnected(): void {
    this.#send = undefined;
    this.#agreed = false;
    this.#hungry();
  }

  /** The server is this far. Answers whether it is the first that it says on this connection. */
  progress(messages: number, queuedMs: number): boolean {
    const first = !this.#agreed;
    this.#hungry();
    if (queuedMs > MOST_QUEUED_MS) this.#later = setTimeout(() => this.#ask(), LATER_MS);
    for (let have = this.#confirmed ?? messages; have < messages && this.#sent.length > 0; have++)
      this.#sentBytes -= cost(this.#sent.shift()!);
    this.#confirmed = messages;
    if (first) {
      this.#agreed = true;
      for (const data of this.#sent) this.#send?.(data);
      this.#unasked = this.#sentBytes;
    }
    this.#pump();
    return first;
  }

  /** Nothing goes out any more; what waits, and what comes later, fails with this. */
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
    if (!this.#agreed) return;
    for (let item = this.#waiting[0]; item !== undefined; item = this.#waiting[0]) {
      if (typeof item.data === "string") this.#deliver(item.data);
      else {
        if (this.#later !== undefined || this.#sentBytes >= this.#window) break;
        // A copy: the array is the caller's, who may use it again while this one is still kept.
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
    else if (this.#unasked >= this.#window / 4 || (isLeaving && this.#unasked > 0)) this.#ask();
  }

  #ask(): void {
    this.#unasked = 0;
    this.#send?.(ASK_FOR_PROGRESS);
  }

  #hungry(): void {
    clearTimeout(this.#later);
    this.#later = undefined;
  }

  #deliver(data: Data): void {
    this.#sent.push(data);
    this.#sentBytes += cost(data);
    this.#unasked += cost(data);
    this.#send?.(data);
  }
}

const cost = (data: Data): number => data.length + MESSAGE_BYTES;
