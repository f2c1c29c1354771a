/** Maximum offset of the audio in a file, bytes. */
const MAX_HEADER_BYTES = 4_096;
const PCM = 1;
const EXTENSIBLE = 0xfffe;

/** Fields of a WAV file's header. */
export interface WavHead {
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  readonly channels: number;
  /** Number of samples per channel, capped at the number stated in the header. */
  readonly frames: number;
}

/**
 * The waveform of a 16-bit PCM WAV file, computed as its bytes arrive in arbitrary pieces, so that the whole file is
 * never in memory.
 */
export class WavPeaks {
  /** The loudest sample of each part of each channel, from 0 to 1. */
  readonly peaks: readonly Float32Array[] = [];
  readonly #partCount: number;
  readonly #fileBytes: number;
  #head: WavHead | undefined;
  /** The start of the file until the audio begins, then the rest of a partial frame. */
  #pending: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #frameCount = 0;

  /** @param parts number of parts @param fileBytes length of the whole file; Infinity if unknown */
  constructor(parts: number, fileBytes: number) {
    this.#partCount = parts;
    this.#fileBytes = fileBytes;
  }

  /** Undefined until the header has arrived. */
  get head(): WavHead | undefined {
    return this.#head;
  }

  /** Received part of the audio, from 0 to 1. */
  get progress(): number {
    return this.#head ? Math.min(1, this.#frameCount / Math.max(1, this.#head.frames)) : 0;
  }

  /** Adds the next bytes. @throws {Error} the file is not a 16-bit PCM WAV file */
  push(bytes: Uint8Array): void {
    const data = new Uint8Array(this.#pending.length + bytes.length);
    data.set(this.#pending);
    data.set(bytes, this.#pending.length);
    const view = new DataView(data.buffer);
    const start = this.#head ? 0 : this.#readHead(view);
    const usedBytes = start === undefined ? 0 : start + this.#readFrames(view, start);
    this.#pending = data.slice(usedBytes);
    if (!this.#head && this.#pending.length > MAX_HEADER_BYTES)
      throw new Error(`the audio of the file is not in its first ${MAX_HEADER_BYTES} bytes`);
  }

  /** Offset of the audio; undefined if the audio has not begun to arrive. */
  #readHead(view: DataView): number | undefined {
    if (view.byteLength < 12) return undefined;
    if (textAt(view, 0) !== "RIFF" || textAt(view, 8) !== "WAVE") throw new Error("the file is not a WAV file");
    let format: Pick<WavHead, "sampleRate" | "channels"> | undefined;
    for (let offset = 12; offset + 8 <= view.byteLength; ) {
      const name = textAt(view, offset);
      const size = view.getUint32(offset + 4, true);
      const contentStart = offset + 8;
      if (name === "data") {
        if (!format) throw new Error("the file has no format chunk");
        const bytes = Math.max(0, Math.min(size, this.#fileBytes - contentStart));
        this.#head = { ...format, frames: Math.floor(bytes / (2 * format.channels)) };
        for (let channel = 0; channel < format.channels; channel++)
          (this.peaks as Float32Array[]).push(new Float32Array(this.#partCount));
        return contentStart;
      }
      if (name === "fmt ") {
        if (contentStart + 16 > view.byteLength) return undefined;
        format = formatAt(view, contentStart);
      }
      offset = contentStart + size + (size % 2);
    }
    return undefined;
  }

  /** Reads whole frames; returns their number of bytes. */
  #readFrames(view: DataView, start: number): number {
    const { channels, frames } = this.#head!;
    const frameBytes = 2 * channels;
    const count = Math.min(Math.floor((view.byteLength - start) / frameBytes), frames - this.#frameCount);
    for (let frame = 0, offset = start; frame < count; frame++)
      for (
        let channel = 0, part = this.#partIndex(this.#frameCount + frame);
        channel < channels;
        channel++, offset += 2
      ) {
        const level = Math.abs(view.getInt16(offset, true)) / 32_768;
        const peaks = this.peaks[channel]!;
        if (level > peaks[part]!) peaks[part] = level;
      }
    this.#frameCount += count;
    return this.#frameCount === frames ? view.byteLength - start : count * frameBytes;
  }

  #partIndex(frame: number): number {
    return Math.floor((frame * this.#partCount) / this.#head!.frames);
  }
}

function formatAt(view: DataView, at: number): Pick<WavHead, "sampleRate" | "channels"> {
  const tag = view.getUint16(at, true);
  const channels = view.getUint16(at + 2, true);
  const sampleRate = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  if ((tag !== PCM && tag !== EXTENSIBLE) || bits !== 16 || channels < 1 || channels > 2 || sampleRate === 0)
    throw new Error("the file is not 16-bit PCM of one or two channels");
  return { channels, sampleRate };
}

const textAt = (view: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((index) => view.getUint8(at + index)));
