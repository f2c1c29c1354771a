import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import { wavHeader } from "../../../src/audio/wav.ts";
import type { Turns } from "./turns.ts";

/** Bytes before the samples in a recording's file. */
export const HEADER_BYTES = 44;
/** Samples that are gathered before they are written: 0.5 s at 16 kHz, 16 KiB with room for one more frame. */
const BATCH_SAMPLES = 7_680;
const BUFFER_SAMPLES = 8_192;
/** While the disk is slower than the call, so much may wait: 8 s at 16 kHz. */
const MAX_WAITING_SAMPLES = 16 * BUFFER_SAMPLES;

/** What a recording needs. */
export interface RecordingOptions {
  readonly path: string;
  readonly sampleRate: number;
  /** The length at which it stops. */
  readonly maxMs: number;
  /** Size of the first batch, 0 to 1 of a whole one: spreads the writes of calls that begin together. */
  readonly stagger: number;
  /** Writing takes turns with that of other recordings. */
  readonly turns: Turns;
  /** Asks for room on the disk; false when there is none. */
  reserve(bytes: number): boolean;
  /** Told once when the recording stops before the call does. */
  incomplete(reason: string, fault?: unknown): void;
}

/**
 * What one callee heard, written to a WAV file while it happens. The file can be read at any time, also after a crash:
 * until the end its header leaves the length open.
 *
 * {@link append} only copies; writing goes on behind it, one batch at a time. A disk that is full, broken or too slow
 * ends the recording, never the call.
 */
export class Recording {
  readonly #options: RecordingOptions;
  readonly #maxSamples: number;
  /** The samples to be written next. */
  #buffer: Int16Array<ArrayBuffer> = new Int16Array(BUFFER_SAMPLES);
  #filled = 0;
  /** Takes the place of the buffer that is being written. */
  #spare: Int16Array<ArrayBuffer> | undefined;
  #batch: number;
  #taken = 0;
  #written = 0;
  #file: FileHandle | undefined;
  #writing: Promise<void> | undefined;
  /** Takes no more frames. */
  #closed = false;
  /** Has said that something is missing. */
  #incomplete = false;
  /** Writes no more. */
  #failed = false;
  #ended: Promise<void> | undefined;

  constructor(options: RecordingOptions) {
    this.#options = options;
    this.#maxSamples = Math.floor((options.maxMs * options.sampleRate) / 1000);
    this.#batch = Math.ceil(options.stagger * BATCH_SAMPLES);
  }

  /** Takes the next frame. Copies it; never waits, never throws. */
  append(frame: Int16Array): void {
    if (this.#closed) return;
    if (this.#taken + frame.length > this.#maxSamples) this.#stop("it has reached its longest length");
    else if (this.#filled + frame.length > this.#buffer.length && !this.#grow())
      this.#stop("the disk is slower than the call");
    if (this.#closed) return;
    this.#buffer.set(frame, this.#filled);
    this.#filled += frame.length;
    this.#taken += frame.length;
    if (this.#filled >= this.#batch && this.#writing === undefined) this.#writing = this.#write(BATCH_SAMPLES);
  }

  /** The call is over; resolves when the file is complete. Never rejects. */
  end(): Promise<void> {
    this.#closed = true;
    this.#ended ??= this.#finish();
    return this.#ended;
  }

  #grow(): boolean {
    if (this.#buffer.length >= MAX_WAITING_SAMPLES) return false;
    const larger = new Int16Array(2 * this.#buffer.length);
    larger.set(this.#buffer);
    this.#buffer = larger;
    return true;
  }

  /** Writes what is gathered, again and again while there are at least `enough` samples. */
  async #write(enough: number): Promise<void> {
    this.#batch = BATCH_SAMPLES;
    try {
      do await this.#options.turns.take(() => this.#writeBatch());
      while (this.#filled >= enough && !this.#failed);
    } catch (fault) {
      this.#failed = true;
      this.#stop("the disk failed", fault);
    }
    this.#writing = undefined;
  }

  async #writeBatch(): Promise<void> {
    const full = this.#buffer;
    const bytes = new Uint8Array(full.buffer, 0, 2 * this.#filled);
    this.#buffer = this.#spare ?? new Int16Array(BUFFER_SAMPLES);
    this.#spare = undefined;
    this.#filled = 0;
    if (!this.#options.reserve(bytes.length)) {
      this.#failed = true;
      this.#stop("the spool is full");
      return;
    }
    if (this.#file !== undefined) await this.#writeAll(bytes, HEADER_BYTES + this.#written);
    else {
      this.#file = await open(this.#options.path, "w", 0o600);
      const start = new Uint8Array(HEADER_BYTES + bytes.length);
      start.set(wavHeader({ sampleRate: this.#options.sampleRate }));
      start.set(bytes, HEADER_BYTES);
      await this.#writeAll(start, 0);
    }
    this.#written += bytes.length;
    if (full.length === BUFFER_SAMPLES) this.#spare = full;
  }

  async #writeAll(bytes: Uint8Array, position: number): Promise<void> {
    let done = 0;
    while (done < bytes.length) {
      const { bytesWritten } = await this.#file!.write(bytes, done, bytes.length - done, position + done);
      done += bytesWritten;
    }
  }

  async #finish(): Promise<void> {
    await this.#writing;
    if (this.#filled > 0 && !this.#failed) await this.#write(1);
    const file = this.#file;
    if (file === undefined) return;
    const header = wavHeader({ sampleRate: this.#options.sampleRate, samples: this.#written / 2 });
    try {
      await this.#options.turns.take(() => this.#writeAll(header, 0).finally(() => file.close()));
    } catch {
      // Whoever reads the file goes by its size, so an open length in its header does no harm.
    }
  }

  #stop(reason: string, fault?: unknown): void {
    this.#closed = true;
    if (this.#incomplete) return;
    this.#incomplete = true;
    this.#options.incomplete(reason, fault);
  }
}
