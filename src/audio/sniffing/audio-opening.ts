import { framesAt, ID3_HEAD_BYTES, id3Bytes, RECOGNITION_BYTES, SEARCH_BYTES } from "../mp3/mp3-frames.ts";
import { NotAudio } from "../not-audio.ts";
import type { StreamEncoding } from "../samples/stream-format.ts";
import { codedFramesAt } from "./coded-frames.ts";
import { namedFile, PROOF_BYTES } from "./named-file.ts";
import { sniff } from "./sniff.ts";

/** Maximum number of bytes held back, enough to detect the format. */
const MAX_HELD_BYTES = SEARCH_BYTES + RECOGNITION_BYTES;
/** Maximum length of an ID3v2 tag, bytes; it may contain a picture. */
const MAX_TAG_BYTES = 16 * 1024 * 1024;

/** A format of incoming audio: a stream format, or a WAV file with its own header. */
export type IncomingFormat = StreamEncoding | "wav";

/** The format detected from the first bytes. */
export interface OpenedAudio {
  readonly format: IncomingFormat;
  /** All bytes of audio so far, including those held back. */
  readonly bytes: Uint8Array;
}

/** The error for a file that is refused. */
export function fileRefusal(name: string, statedEncoding: StreamEncoding | undefined): NotAudio {
  if (name.startsWith("MP3") && statedEncoding !== "mp3")
    return new NotAudio(
      `this is ${name}, not ${statedEncoding ?? "pcm_s16le"}: connect with encoding=mp3, or without an encoding`,
    );
  return new NotAudio(`this is ${name}: send samples (16-bit PCM, mu-law, A-law), WAV or MP3`);
}

/**
 * Holds back the first bytes of a stream until their format is known: 12 bytes of samples (up to 3 KB if they happen
 * to look like an MP3), or the tags and first frames of an MP3.
 */
export class AudioOpening {
  readonly #statedEncoding: StreamEncoding | undefined;
  /** True if the client or a leading tag declares an MP3. */
  #isMp3: boolean;
  #buffer = new Uint8Array(MAX_HELD_BYTES);
  #length = 0;
  #isNameChecked = false;
  /** Number of remaining bytes of a tag. */
  #skipBytes = 0;
  /** True once the tags are skipped. */
  #isTagless = false;
  /** Position of the search for the first frame. */
  #position = 0;

  constructor(statedEncoding: StreamEncoding | undefined) {
    this.#statedEncoding = statedEncoding;
    this.#isMp3 = statedEncoding === "mp3";
  }

  /** Number of bytes that are held back. */
  get heldBytes(): number {
    return this.#length;
  }

  /**
   * Adds the next bytes; returns undefined while more are needed.
   * @throws {NotAudio}
   */
  push(bytes: Uint8Array): OpenedAudio | undefined {
    let readCount = 0;
    while (readCount < bytes.length) {
      const skippedBytes = Math.min(this.#skipBytes, bytes.length - readCount);
      this.#skipBytes -= skippedBytes;
      readCount += skippedBytes;
      const piece = bytes.subarray(readCount, readCount + MAX_HELD_BYTES - this.#length);
      this.#buffer.set(piece, this.#length);
      this.#length += piece.length;
      readCount += piece.length;
      const format = this.#detect();
      if (format !== undefined) return { format, bytes: this.#allBytes(bytes.subarray(readCount)) };
    }
    return undefined;
  }

  /** The bytes that were too few to detect the format: samples, unless an MP3 is declared. */
  end(): OpenedAudio | undefined {
    if (this.#isMp3 || this.#length === 0) return undefined;
    return { format: this.#statedEncoding ?? "pcm_s16le", bytes: this.#buffer.slice(0, this.#length) };
  }

  #allBytes(rest: Uint8Array): Uint8Array {
    const bufferedBytes = this.#buffer.subarray(this.#position, this.#length);
    const bytes = new Uint8Array(bufferedBytes.length + rest.length);
    bytes.set(bufferedBytes);
    bytes.set(rest, bufferedBytes.length);
    return bytes;
  }

  #detect(): IncomingFormat | undefined {
    const bufferedBytes = this.#buffer.subarray(0, this.#length);
    if (!this.#isNameChecked) {
      if (bufferedBytes.length < PROOF_BYTES) return undefined;
      this.#isNameChecked = true;
      const name = namedFile(bufferedBytes, "opening");
      if (name === "WAV") return "wav";
      const isMp3 = name?.startsWith("MP3") === true;
      if (name !== undefined && !(isMp3 && (this.#statedEncoding === undefined || this.#isMp3)))
        throw fileRefusal(name, this.#statedEncoding);
      this.#isMp3 ||= isMp3;
    }
    if (this.#isMp3) return this.#findFrames();
    const frames = codedFramesAt(bufferedBytes, 0);
    if (frames === "cut" && bufferedBytes.length < MAX_HELD_BYTES) return undefined;
    if (frames === "MP3" && this.#statedEncoding === undefined) return "mp3";
    if (frames !== undefined && frames !== "cut") throw fileRefusal(frames, this.#statedEncoding);
    return this.#statedEncoding ?? "pcm_s16le";
  }

  #findFrames(): "mp3" | undefined {
    this.#isTagless ||= this.#skipTags();
    if (!this.#isTagless) return undefined;
    const buffered = this.#buffer.subarray(0, this.#length);
    const frames = this.#isTagless ? codedFramesAt(buffered, 0) : undefined;
    if (frames === "cut" && buffered.length < MAX_HELD_BYTES) return undefined;
    if (frames !== undefined && frames !== "cut" && frames !== "MP3") throw fileRefusal(frames, "mp3");
    for (; this.#position < SEARCH_BYTES; this.#position++) {
      const frames = framesAt(buffered, this.#position);
      if (frames === "yes") return "mp3";
      if (frames === "cut") return undefined;
    }
    const format = sniff(buffered);
    const name = typeof format === "string" ? format.toUpperCase() : format.unsupported;
    throw new NotAudio(`no MP3 frames follow each other: this is ${name}`);
  }

  /** Skips the tags; returns false if more bytes are needed to detect what follows. */
  #skipTags(): boolean {
    for (;;) {
      if (this.#length < ID3_HEAD_BYTES) return false;
      const tag = id3Bytes(this.#buffer, 0);
      if (tag === 0) return true;
      if (tag > MAX_TAG_BYTES) throw new NotAudio("the ID3 tag claims to be longer than 16 MB");
      this.#skipFirst(tag);
    }
  }

  /** Skips this many bytes. */
  #skipFirst(bytes: number): void {
    const bufferedBytes = Math.min(bytes, this.#length);
    this.#skipBytes = bytes - bufferedBytes;
    this.#buffer.copyWithin(0, bufferedBytes, this.#length);
    this.#length -= bufferedBytes;
  }
}
