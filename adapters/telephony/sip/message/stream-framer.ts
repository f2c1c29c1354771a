import type { Complaint } from "./complaint.ts";
import { completeMessage } from "./complete-message.ts";
import { contentLength } from "./content-fields.ts";
import { headEnd, skipEmptyLines } from "./head-end.ts";
import { MAX_HEADER_BYTES } from "./limits.ts";
import { type MalformedMessage, malformed } from "./malformed-message.ts";
import { EMPTY_BODY, type SipMessage, type SipResponse } from "./message.ts";
import { HEADER_TOO_LARGE, type MessageHead, readHead } from "./message-head.ts";

/**
 * A keep-alive (RFC 5626 section 4.4.1): a double CRLF between messages is a `ping`, to be answered with a single one; a
 * single one is a `pong`. A ping that is cut in two between its CRLFs is read as two pongs.
 */
export interface KeepAlive {
  readonly kind: "ping" | "pong";
}

/** The stream cannot be read any further: nobody knows where the next message begins. It is to be closed. */
export interface StreamFault {
  readonly kind: "fault";
  /** What was wrong, as a sentence. */
  readonly detail: string;
  /** What to send before closing, where it was a request that can be answered. */
  readonly answer: SipResponse | undefined;
}

export type Framed = SipMessage | MalformedMessage | KeepAlive | StreamFault;

interface PendingHead {
  readonly read: MessageHead;
  readonly bodyLength: number;
}

const LF = 0x0a;

/**
 * Cuts the bytes of one TCP or TLS connection into messages by their Content-Length (RFC 3261 section 18.3). Pieces may be
 * cut anywhere; the time is linear in the bytes. Holds one message at most; after a fault nothing more is read.
 */
export class StreamFramer {
  /** What came and is no part of anything yet, up to `#length`; behind it there is room. */
  #kept: Uint8Array = EMPTY_BODY;
  #length = 0;
  /** In the first so many bytes of what is kept, the header does not end. */
  #searched = 0;
  /** The head that came, with a body that is still to come. */
  #head: PendingHead | undefined;
  /** Empty lines before a keep-alive that was cut within a CRLF, 0 or 1. */
  #blanks = 0;
  #faulty = false;

  /** Whether a message has begun and is not complete. */
  get incomplete(): boolean {
    return this.#length > 0 || this.#head !== undefined;
  }

  /** What is complete with this piece, in order; never throws. The piece itself is not kept. */
  push(piece: Uint8Array): Framed[] {
    const framed: Framed[] = [];
    if (this.#faulty) return framed;
    const bytes = this.#with(piece);
    let from = 0;
    while (from < bytes.length || this.#head?.bodyLength === 0) {
      if (this.#head === undefined) from = this.#skipBlanks(bytes, from, framed);
      const next = this.#head === undefined ? this.#readHead(bytes, from, framed) : this.#readBody(bytes, from, framed);
      if (next < 0) break;
      from = next;
    }
    this.#keep(bytes, from);
    return framed;
  }

  /** Where the next message begins; tells keep-alives. */
  #skipBlanks(bytes: Uint8Array, from: number, framed: Framed[]): number {
    const to = skipEmptyLines(bytes, from);
    if (to === from) return to;
    let lines = this.#blanks;
    for (let at = from; at < to; at++) if (bytes[at] === LF) lines++;
    const cutInCrlf = to === bytes.length && bytes[to - 1] !== LF;
    if (lines >= 2) framed.push({ kind: "ping" });
    else if (lines === 1 && to === bytes.length && !cutInCrlf) framed.push({ kind: "pong" });
    this.#blanks = cutInCrlf ? lines % 2 : 0;
    return to;
  }

  /** Behind the head that begins here; -1 where more must come first. */
  #readHead(bytes: Uint8Array, from: number, framed: Framed[]): number {
    if (from >= bytes.length) return -1;
    const first = bytes[from] as number;
    if (first <= 0x20 || first >= 0x7f) return this.#fail(framed, "What came is not SIP");
    const end = headEnd(bytes, Math.max(from, from + this.#searched - 2));
    const length = (end < 0 ? bytes.length : end) - from;
    this.#searched = end < 0 ? length : 0;
    if (end < 0 && length <= MAX_HEADER_BYTES) return -1;
    const read = readHead(bytes.subarray(from, from + length));
    const bodyLength = contentLength(read.headers) ?? NO_LENGTH;
    if (length <= MAX_HEADER_BYTES && typeof bodyLength === "number") {
      this.#head = { read, bodyLength };
      return end;
    }
    const fault = typeof bodyLength === "number" ? HEADER_TOO_LARGE : bodyLength;
    const { detail, answer } = malformed(read, read.complaint ?? fault);
    return this.#fail(framed, detail, answer);
  }

  #readBody(bytes: Uint8Array, from: number, framed: Framed[]): number {
    const { read, bodyLength } = this.#head as PendingHead;
    const end = from + bodyLength;
    if (end > bytes.length) return -1;
    framed.push(completeMessage(read, new Uint8Array(bytes.subarray(from, end))));
    this.#head = undefined;
    return end;
  }

  /** Nothing is read any more. */
  #fail(framed: Framed[], detail: string, answer?: SipResponse): -1 {
    framed.push({ kind: "fault", detail, answer });
    this.#faulty = true;
    return -1;
  }

  /** What was kept, with the piece behind it. */
  #with(piece: Uint8Array): Uint8Array {
    if (this.#length === 0) return piece;
    const length = this.#length + piece.length;
    if (length > this.#kept.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#kept.length));
      larger.set(this.#kept.subarray(0, this.#length));
      this.#kept = larger;
    }
    this.#kept.set(piece, this.#length);
    return this.#kept.subarray(0, length);
  }

  /** Keeps what stands from this place on, which is in the latest piece unless nothing was complete. */
  #keep(bytes: Uint8Array, from: number): void {
    this.#length = this.#faulty ? 0 : bytes.length - from;
    if (this.#length === 0) this.#kept = EMPTY_BODY;
    else if (bytes.buffer !== this.#kept.buffer) this.#kept = new Uint8Array(bytes.subarray(from));
    else if (from > 0) this.#kept.copyWithin(0, from, bytes.length);
  }
}

const NO_LENGTH: Complaint = {
  status: 400,
  detail: "Content-Length is missing, which every message on a stream must have",
};
