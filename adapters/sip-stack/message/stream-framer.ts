import {
  completeMessage,
  contentLength,
  HEADER_TOO_LARGE,
  headEnd,
  type MalformedMessage,
  type MessageHead,
  malformed,
  readHead,
  skipEmptyLines,
} from "./parse-message.ts";
import { EMPTY_BODY, MAX_HEADER_BYTES, type MessageError, type SipMessage, type SipResponse } from "./sip-message.ts";

/**
 * A keep-alive (RFC 5626 section 4.4.1): a double CRLF between messages is a `ping`, which gets a single CRLF in
 * response; a single CRLF is a `pong`. A ping that arrives in two pieces is read as two pongs.
 */
interface KeepAlive {
  readonly kind: "ping" | "pong";
}

/** The stream must be closed, since the start of the next message is unknown. */
interface StreamFault {
  readonly kind: "fault";
  /** The fault. */
  readonly detail: string;
  /** The response to send before closing; undefined if none is possible. */
  readonly response: SipResponse | undefined;
}

export type FramedItem = SipMessage | MalformedMessage | KeepAlive | StreamFault;

interface PendingHead {
  readonly head: MessageHead;
  readonly bodyLength: number;
}

const LF = 0x0a;

/**
 * Splits the bytes of one TCP or TLS connection into messages by their Content-Length (RFC 3261 section 18.3). Pieces
 * may be cut anywhere. Takes linear time, and buffers at most one message; after a fault it stops reading.
 */
export class StreamFramer {
  /** Buffered bytes, up to `#length`; the rest is spare capacity. */
  #buffer: Uint8Array = EMPTY_BODY;
  #length = 0;
  /** The number of buffered bytes already searched for the end of the header. */
  #searchedBytes = 0;
  /** A complete head whose body is incomplete. */
  #head: PendingHead | undefined;
  /** Number of empty lines, 0 or 1, before a keep-alive that was cut within a CRLF. */
  #blankLines = 0;
  #hasFailed = false;

  /** True if an incomplete message is buffered. */
  get isIncomplete(): boolean {
    return this.#length > 0 || this.#head !== undefined;
  }

  /**
   * Accepts a piece and returns everything that it completes, in order. Never throws, and does not retain the piece.
   */
  push(piece: Uint8Array): FramedItem[] {
    const items: FramedItem[] = [];
    if (this.#hasFailed) return items;
    const bytes = this.#append(piece);
    let from = 0;
    while (from < bytes.length || this.#head?.bodyLength === 0) {
      if (this.#head === undefined) from = this.#skipBlanks(bytes, from, items);
      const next = this.#head === undefined ? this.#readHead(bytes, from, items) : this.#readBody(bytes, from, items);
      if (next < 0) break;
      from = next;
    }
    this.#retain(bytes, from);
    return items;
  }

  /** Skips empty lines before the next message, and adds the keep-alives among them. */
  #skipBlanks(bytes: Uint8Array, from: number, items: FramedItem[]): number {
    const end = skipEmptyLines(bytes, from);
    if (end === from) return end;
    let lines = this.#blankLines;
    for (let at = from; at < end; at++) if (bytes[at] === LF) lines++;
    const endsInCrlf = end === bytes.length && bytes[end - 1] !== LF;
    if (lines >= 2) items.push({ kind: "ping" });
    else if (lines === 1 && end === bytes.length && !endsInCrlf) items.push({ kind: "pong" });
    this.#blankLines = endsInCrlf ? lines % 2 : 0;
    return end;
  }

  /** The offset after the head at `from`; -1 if it is incomplete. */
  #readHead(bytes: Uint8Array, from: number, items: FramedItem[]): number {
    if (from >= bytes.length) return -1;
    const firstByte = bytes[from] as number;
    if (firstByte <= 0x20 || firstByte >= 0x7f) return this.#fail(items, "The stream is not SIP");
    const end = headEnd(bytes, Math.max(from, from + this.#searchedBytes - 2));
    const length = (end < 0 ? bytes.length : end) - from;
    this.#searchedBytes = end < 0 ? length : 0;
    if (end < 0 && length <= MAX_HEADER_BYTES) return -1;
    const head = readHead(bytes.subarray(from, from + length));
    const bodyLength = contentLength(head.headers) ?? NO_LENGTH;
    if (length <= MAX_HEADER_BYTES && typeof bodyLength === "number") {
      this.#head = { head, bodyLength };
      return end;
    }
    const error = typeof bodyLength === "number" ? HEADER_TOO_LARGE : bodyLength;
    const { detail, response } = malformed(head, head.error ?? error);
    return this.#fail(items, detail, response);
  }

  #readBody(bytes: Uint8Array, from: number, items: FramedItem[]): number {
    const { head, bodyLength } = this.#head as PendingHead;
    const end = from + bodyLength;
    if (end > bytes.length) return -1;
    items.push(completeMessage(head, new Uint8Array(bytes.subarray(from, end))));
    this.#head = undefined;
    return end;
  }

  /** Stops reading. */
  #fail(items: FramedItem[], detail: string, response?: SipResponse): -1 {
    items.push({ kind: "fault", detail, response });
    this.#hasFailed = true;
    return -1;
  }

  /** The buffered bytes followed by the piece. */
  #append(piece: Uint8Array): Uint8Array {
    if (this.#length === 0) return piece;
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      const buffer = new Uint8Array(Math.max(length, 2 * this.#buffer.length));
      buffer.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = buffer;
    }
    this.#buffer.set(piece, this.#length);
    return this.#buffer.subarray(0, length);
  }

  /** Buffers the bytes after `from`, which belong to the latest piece unless no message was complete. */
  #retain(bytes: Uint8Array, from: number): void {
    this.#length = this.#hasFailed ? 0 : bytes.length - from;
    if (this.#length === 0) this.#buffer = EMPTY_BODY;
    else if (bytes.buffer !== this.#buffer.buffer) this.#buffer = new Uint8Array(bytes.subarray(from));
    else if (from > 0) this.#buffer.copyWithin(0, from, bytes.length);
  }
}

const NO_LENGTH: MessageError = {
  status: 400,
  detail: "Content-Length is missing; every message on a stream must have it",
};
