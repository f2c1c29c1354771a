import { TAG_HEAD_BYTES, tagAt } from "../sniffing/file-tags.ts";
import { framesAt, ID3_HEAD_BYTES, id3PlainBytes } from "./mp3-frames.ts";
import { type Mp3Info, mp3Info } from "./mp3-info.ts";
import { type MpegHeader, mpegHeader } from "./mpeg-header.ts";

/** A part of an MP3. The parts together contain all of its bytes, in order. */
export type Mp3Part =
  | { readonly kind: "frame"; readonly bytes: Uint8Array; readonly header: MpegHeader }
  /** A silent frame that describes the file after it. */
  | { readonly kind: "info"; readonly bytes: Uint8Array; readonly header: MpegHeader; readonly info: Mp3Info }
  /** Tags and padding. */
  | { readonly kind: "tag"; readonly length: number }
  | { readonly kind: "unknown"; readonly length: number }
  /** The beginning of a frame at the end of the MP3. */
  | { readonly kind: "incomplete"; readonly length: number };

/** Options of {@link Mp3Splitter}. */
export interface Mp3SplitterOptions {
  /** Length of the whole file, bytes, which exposes a tag that declares more. Omit it for a stream. */
  readonly size?: number | undefined;
}

/**
 * Splits an MP3 into frames, tags and other bytes as it arrives, in pieces of any size. Frames are recognised once
 * three of one sample rate follow each other; from then on, each is returned as soon as it is complete, until the rate
 * changes.
 */
export class Mp3Splitter {
  readonly #size: number;
  #pendingBytes = new Uint8Array(0);
  /** Number of remaining bytes of a tag. */
  #skipBytes = 0;
  /** Number of bytes after a tag that are part of it if its size is a plain number. */
  #claimedBytes = 0;
  /** Sample rate of the frames that follow each other here; undefined if none do. */
  #rate: number | undefined;
  #hasFrames = false;
  #readBytes = 0;
  /** Number of zero bytes whose meaning depends on what follows: padding, or a hole in a file. */
  #zeroBytes = 0;

  constructor({ size = Infinity }: Mp3SplitterOptions = {}) {
    this.#size = size;
  }

  /** Adds the next bytes and returns the complete parts. */
  push(bytes: Uint8Array): Mp3Part[] {
    return this.#run(bytes, false);
  }

  /** Ends the MP3 and returns the rest. */
  finish(): Mp3Part[] {
    const parts = this.#run(new Uint8Array(0), true);
    if (this.#zeroBytes > 0) parts.push({ kind: "tag", length: this.#zeroBytes });
    return parts;
  }

  #run(input: Uint8Array, isLast: boolean): Mp3Part[] {
    let bytes = input;
    if (this.#pendingBytes.length > 0) {
      bytes = new Uint8Array(this.#pendingBytes.length + input.length);
      bytes.set(this.#pendingBytes);
      bytes.set(input, this.#pendingBytes.length);
    }
    const parts: Mp3Part[] = [];
    let at = 0;
    for (
      let usedBytes = this.#step(bytes, at, isLast, parts);
      usedBytes > 0;
      usedBytes = this.#step(bytes, at, isLast, parts)
    ) {
      at += usedBytes;
      this.#readBytes += usedBytes;
    }
    this.#pendingBytes = bytes.slice(at);
    return parts;
  }

  /** Returns the number of bytes used; 0 if more are needed. */
  #step(bytes: Uint8Array, at: number, isLast: boolean, parts: Mp3Part[]): number {
    const remainingBytes = bytes.length - at;
    if (remainingBytes === 0) return 0;
    if (this.#skipBytes > 0) {
      const skippedBytes = Math.min(this.#skipBytes, remainingBytes);
      this.#skipBytes -= skippedBytes;
      parts.push({ kind: "tag", length: skippedBytes });
      return skippedBytes;
    }
    if (bytes[at] === 0) return this.#skipPadding(bytes, at, parts);
    const partCount = parts.length;
    const usedBytes = this.#part(bytes, at, isLast, parts);
    if (usedBytes > 0 && this.#zeroBytes > 0) {
      const kind = KINDS_AFTER_HOLES.has(parts[partCount]!.kind) && this.#hasFrames ? "unknown" : "tag";
      parts.splice(partCount, 0, { kind, length: this.#zeroBytes });
      this.#zeroBytes = 0;
    }
    this.#hasFrames ||= parts.some(({ kind }) => kind === "frame");
    return usedBytes;
  }

  #part(bytes: Uint8Array, at: number, isLast: boolean, parts: Mp3Part[]): number {
    const remainingBytes = bytes.length - at;
    const header = mpegHeader(bytes, at);
    if (header !== undefined && this.#isFrame(bytes, at, header, isLast))
      return this.#frame(bytes, at, header, isLast, parts);
    if (TAG_LETTERS.has(bytes[at]!)) {
      if (remainingBytes < TAG_HEAD_BYTES && !isLast) return 0;
      const length = tagAt(bytes, at);
      if (length > 0) return this.#tag(bytes, at, length, parts);
    }
    return this.#search(bytes, at, isLast, parts);
  }

  #isFrame(bytes: Uint8Array, at: number, { sampleRate }: MpegHeader, isLast: boolean): boolean {
    return sampleRate === this.#rate || framesAt(bytes, at) === "yes" || (isLast && endsWithFrames(bytes, at));
  }

  #frame(bytes: Uint8Array, at: number, header: MpegHeader, isLast: boolean, parts: Mp3Part[]): number {
    const remainingBytes = bytes.length - at;
    if (remainingBytes < header.frameBytes) {
      if (isLast) parts.push({ kind: "incomplete", length: remainingBytes });
      return isLast ? remainingBytes : 0;
    }
    this.#rate = header.sampleRate;
    this.#claimedBytes = 0;
    const frame = bytes.subarray(at, at + header.frameBytes);
    const info = mp3Info(frame, header);
    parts.push(info ? { kind: "info", bytes: frame, header, info } : { kind: "frame", bytes: frame, header });
    return header.frameBytes;
  }

  /**
   * Starts a tag and returns the bytes of its head. The declared size may be wrong: a tag longer than its file is
   * searched.
   */
  #tag(bytes: Uint8Array, at: number, length: number, parts: Mp3Part[]): number {
    const isTooLong = this.#readBytes + length > this.#size;
    const headBytes = Math.min(length, bytes.length - at, isTooLong ? ID3_HEAD_BYTES : length);
    this.#skipBytes = isTooLong ? 0 : length - headBytes;
    this.#claimedBytes = isTooLong ? length - headBytes : Math.max(0, id3PlainBytes(bytes, at) - length);
    parts.push({ kind: "tag", length: headBytes });
    return headBytes;
  }

  /** Skips zeros, which are padding. */
  #skipPadding(bytes: Uint8Array, at: number, parts: Mp3Part[]): number {
    let end = at;
    while (end < bytes.length && bytes[end] === 0) end++;
    this.#claimedBytes = Math.max(0, this.#claimedBytes - (end - at));
    if (this.#hasFrames) this.#zeroBytes += end - at;
    else parts.push({ kind: "tag", length: end - at });
    return end - at;
  }

  /** Skips bytes up to the next start of frames. */
  #search(bytes: Uint8Array, from: number, isLast: boolean, parts: Mp3Part[]): number {
    let next = from;
    for (; next < bytes.length; next++) {
      const frames = bytes[next] === 0xff ? framesAt(bytes, next) : "no";
      if (frames === "yes" || (frames === "cut" && (!isLast || endsWithFrames(bytes, next)))) break;
    }
    if (next === from) return 0;
    this.#rate = undefined;
    const tagBytes = Math.min(this.#claimedBytes, next - from);
    this.#claimedBytes -= tagBytes;
    if (tagBytes > 0) parts.push({ kind: "tag", length: tagBytes });
    if (next - from > tagBytes) parts.push({ kind: "unknown", length: next - from - tagBytes });
    return next - from;
  }
}

/** Between frames and one of these parts, zeros are a hole; before a tag or another file they are padding. */
const KINDS_AFTER_HOLES: ReadonlySet<Mp3Part["kind"]> = new Set(["frame", "unknown", "incomplete"]);

/** The first letters of tags. */
const TAG_LETTERS: ReadonlySet<number> = new Set(Array.from("IATL", (letter) => letter.charCodeAt(0)));

/** True if whole frames of one rate reach from here exactly to the end of the bytes. */
function endsWithFrames(bytes: Uint8Array, from: number): boolean {
  const rate = mpegHeader(bytes, from)?.sampleRate;
  let at = from;
  while (at < bytes.length) {
    const header = mpegHeader(bytes, at);
    if (header === undefined || header.sampleRate !== rate) return false;
    at += header.frameBytes;
  }
  return at === bytes.length;
}
