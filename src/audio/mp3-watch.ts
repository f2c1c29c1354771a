import { MOST_FRAME_BYTES, type MpegHeader, mpegHeader } from "./mpeg-header.ts";

const HEADER_BYTES = 4;
/** Number of consecutive frames of one kind that prove an MP3 among samples. */
const FRAMES_NEEDED = 5;
/** The bits of a header that all frames of a stream share: sync, version, layer, checksum and sample rate. */
const SHARED = [0xff, 0xff, 0x0c] as const;

/**
 * Notices an MP3 that arrives as samples: five frames that follow each other, from the beginning of a message or, in a long
 * message, from anywhere near its beginning. The frames may be spread over messages.
 */
export class Mp3Watch {
  readonly #expected = new Uint8Array(HEADER_BYTES);
  readonly #header = new Uint8Array(HEADER_BYTES);
  /** Bytes of the next header that have arrived. */
  #arrived = 0;
  /** Bytes until the next header. */
  #left = 0;
  /** Number of frames so far; 0: none is followed. */
  #frames = 0;

  /** Takes the next message; true once it is proven that frames arrive. */
  push(message: Uint8Array): boolean {
    if (this.#follow(message)) return true;
    const limit = Math.min(message.length - FRAMES_NEEDED * HEADER_BYTES, MOST_FRAME_BYTES);
    for (let at = message.indexOf(0xff); at !== -1 && at <= limit; at = message.indexOf(0xff, at + 1))
      if (isChain(message, at)) return true;
    if (this.#frames <= 1) this.#begin(message);
    return false;
  }

  #begin(message: Uint8Array): void {
    const header = frameHeader(message, 0);
    const begins = header !== undefined && !repeats(message, 0, Math.min(header.frameBytes, message.length));
    this.#frames = begins ? 1 : 0;
    if (!begins) return;
    this.#expected.set(message.subarray(0, HEADER_BYTES));
    this.#arrived = 0;
    this.#left = header.frameBytes;
    this.#follow(message);
  }

  #follow(message: Uint8Array): boolean {
    for (let at = 0; this.#frames > 0; ) {
      const skipped = Math.min(this.#left, message.length - at);
      this.#left -= skipped;
      at += skipped;
      while (at < message.length && this.#arrived < HEADER_BYTES) this.#header[this.#arrived++] = message[at++]!;
      if (this.#left > 0 || this.#arrived < HEADER_BYTES) return false;
      const header = frameHeader(this.#header, 0);
      if (header === undefined || !isSameKind(this.#header, 0, this.#expected, 0)) this.#frames = 0;
      else if (++this.#frames >= FRAMES_NEEDED) return true;
      else this.#left = header.frameBytes - HEADER_BYTES;
      this.#arrived = 0;
    }
    return false;
  }
}

/** The header of a frame without emphasis, which hardly any MP3 has. */
function frameHeader(bytes: Uint8Array, at: number): MpegHeader | undefined {
  return (bytes[at + 3]! & 3) === 0 ? mpegHeader(bytes, at) : undefined;
}

/** True if enough frames of one kind follow each other here. */
function isChain(bytes: Uint8Array, at: number): boolean {
  let next = at;
  for (let frames = 0; frames < FRAMES_NEEDED; frames++) {
    const header = frameHeader(bytes, next);
    if (header === undefined || !isSameKind(bytes, next, bytes, at)) return false;
    // In a periodic sound, every period looks like a header.
    if (repeats(bytes, next, header.frameBytes)) return false;
    next += header.frameBytes;
  }
  return true;
}

/** True if the header occurs again within its frame. */
function repeats(bytes: Uint8Array, at: number, frameBytes: number): boolean {
  for (let i = bytes.indexOf(0xff, at + 1); i !== -1 && i < at + frameBytes; i = bytes.indexOf(0xff, i + 1))
    if (isSameKind(bytes, i, bytes, at) && frameHeader(bytes, i) !== undefined) return true;
  return false;
}

function isSameKind(bytes: Uint8Array, at: number, others: Uint8Array, otherAt: number): boolean {
  return SHARED.every((bits, i) => ((bytes[at + i]! ^ others[otherAt + i]!) & bits) === 0);
}
