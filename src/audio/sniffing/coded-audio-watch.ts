import {
  CODED_HEADER_BYTES,
  type CodedFrame,
  codedFrame,
  codedFramesAt,
  headerRecurs,
  isSameKind,
  MAX_CODED_FRAME_BYTES,
} from "./coded-frames.ts";

/** Number of consecutive frames of one kind that prove compressed audio among samples. */
const FRAMES_NEEDED = 5;

/**
 * Detects compressed audio (MP3, AAC and their relatives) that arrives as samples: five consecutive frames, from the
 * beginning of a message or, in a long message, from anywhere near its beginning. The frames may be spread over
 * messages.
 */
export class CodedAudioWatch {
  readonly #firstHeader = new Uint8Array(CODED_HEADER_BYTES);
  readonly #header = new Uint8Array(CODED_HEADER_BYTES);
  #firstFrame: CodedFrame | undefined;
  /** Number of bytes of the next header that have arrived. */
  #headerLength = 0;
  /** Number of bytes until the next header. */
  #bytesToHeader = 0;
  /** Number of frames so far; 0 if no frame is being followed. */
  #frameCount = 0;

  /** Checks the next message; returns the name of the format once it is proven that frames arrive. */
  push(message: Uint8Array): string | undefined {
    if (this.#follow(message)) return this.#firstFrame?.name;
    const limit = Math.min(message.length - FRAMES_NEEDED * CODED_HEADER_BYTES, MAX_CODED_FRAME_BYTES);
    for (let at = message.indexOf(0xff); at !== -1 && at <= limit; at = message.indexOf(0xff, at + 1)) {
      const name = codedFramesAt(message, at, FRAMES_NEEDED);
      if (name !== undefined && name !== "cut") return name;
    }
    if (this.#frameCount <= 1) this.#begin(message);
    return undefined;
  }

  #begin(message: Uint8Array): void {
    this.#frameCount = 0;
    const first = codedFrame(message, 0);
    const length = first?.frameBytes;
    if (length === undefined || headerRecurs(message, 0, Math.min(length, message.length))) return;
    this.#firstFrame = first;
    this.#frameCount = 1;
    this.#firstHeader.set(message.subarray(0, CODED_HEADER_BYTES));
    this.#headerLength = 0;
    this.#bytesToHeader = length;
    this.#follow(message);
  }

  #follow(message: Uint8Array): boolean {
    for (let at = 0; this.#frameCount > 0; ) {
      const skippedBytes = Math.min(this.#bytesToHeader, message.length - at);
      this.#bytesToHeader -= skippedBytes;
      at += skippedBytes;
      while (at < message.length && this.#headerLength < CODED_HEADER_BYTES)
        this.#header[this.#headerLength++] = message[at++]!;
      if (this.#bytesToHeader > 0 || this.#headerLength < CODED_HEADER_BYTES) return false;
      const length = codedFrame(this.#header, 0)?.frameBytes;
      if (length === undefined || !isSameKind(this.#header, 0, this.#firstHeader, 0, this.#firstFrame?.sharedBits ?? 0))
        this.#frameCount = 0;
      else if (++this.#frameCount >= FRAMES_NEEDED) return true;
      else this.#bytesToHeader = length - CODED_HEADER_BYTES;
      this.#headerLength = 0;
    }
    return false;
  }
}
