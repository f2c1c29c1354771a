import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import { WAV_HEADER_BYTES, wavHeader } from "../../../src/audio/wav.ts";
import { writeAll } from "../../audio/wav-file.ts";
import { BUFFER_SAMPLES, type SampleBuffers } from "./sample-buffers.ts";
import type { Turns } from "./turns.ts";

/** While the disk is slower than the call, so many batches may wait: 8 s at 16 kHz. */
const MAX_WAITING = 17;

/** What a recording needs. */
export interface RecordingOptions {
  readonly path: string;
  readonly sampleRate: number;
  /** The length at which it stops. */
  readonly maxMs: number;
  /** Size of the first batch, 0 to 1 of a whole one: spreads the writes of calls that begin together. */
  readonly stagger: number;
  readonly buffers: SampleBuffers;
  /** Writing takes turns with that of other recordings. */
  readonly turns: Turns;
  /** Asks for room on the disk; false when there is none. */
  reserve(bytes: number): boolean;
  /** Told once when the recording stops before the call does. */
  incomplete(reason: string, fault?: unknown): void;
}

/** Samples that are written together. */
interface Batch {
  readonly buffer: Int16Array<ArrayBuffer>;
  readonly samples: number;
}

/**
 * What one callee heard, written to a WAV file while it happens. The file can be read at any time, also after a crash:
 * until the end its header leaves the length open.
 *
 * {@link append} only copies; writing goes on behind it, one batch after the other. A disk that is full, broken or too
 * slow ends the recording, never the call.
 */
export class Recording {
  readonly #options: RecordingOptions;
  readonly #maxSamples: number;
  /** What is being filled, and how far. */
  #buffer: Int16Array<ArrayBuffer> | undefined;
  #filled = 0;
  /** The samples at which it is handed over to be written. */
  #enough: number;
  /** What waits for the disk, oldest first. */
  #waiting: Batch[] = [];
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
    this.#enough = Math.ceil(options.stagger * BUFFER_SAMPLES);
  }

  /** Takes the next frame. Copies it; never waits, never throws. */
  append(frame: Int16Array): void {
    if (this.#closed) return;
    if (this.#taken + frame.length > this.#maxSamples) this.#stop("it has reached its longest length");
    else if (this.#waiting.length === MAX_WAITING) this.#stop("the disk is slower than the call");
    if (this.#closed) return;
    if (this.#filled + frame.length > BUFFER_SAMPLES) this.#handOver();
    this.#buffer ??= this.#options.buffers.take();
    this.#buffer.set(frame, this.#filled);
    this.#filled += frame.length;
    this.#taken += frame.length;
    if (this.#filled >= this.#enough) this.#handOver();
  }

  /** The call is over; resolves when the file is complete. Never rejects. */
  end(): Promise<void> {
    this.#closed = true;
    this.#ended ??= this.#finish();
    return this.#ended;
  }

  #handOver(): void {
    if (this.#buffer === undefined) return;
    this.#waiting.push({ buffer: this.#buffer, samples: this.#filled });
    this.#buffer = undefined;
    this.#filled = 0;
    this.#enough = BUFFER_SAMPLES;
    this.#writing ??= this.#write();
  }

  /** Writes what waits until nothing does. */
  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && !this.#failed) await this.#options.turns.take(() => this.#writeWaiting());
    } catch (fault) {
      this.#failed = true;
      this.#stop("the disk failed", fault);
    }
    this.#writing = undefined;
  }

  async #writeWaiting(): Promise<void> {
    const batches = this.#waiting;
    this.#waiting = [];
    for (const { buffer, samples } of batches) {
      const bytes = new Uint8Array(buffer.buffer, 0, 2 * samples);
      if (!this.#options.reserve(bytes.length)) {
        this.#failed = true;
        this.#stop("the spool is full");
        return;
      }
      this.#file ??= await this.#create();
      await writeAll(this.#file, bytes, WAV_HEADER_BYTES + this.#written);
      this.#written += bytes.length;
      this.#options.buffers.giveBack(buffer);
    }
  }

  async #create(): Promise<FileHandle> {
    const file = await open(this.#options.path, "w", 0o600);
    this.#file = file; // the end closes it, even if its header cannot be written
    await writeAll(file, wavHeader({ sampleRate: this.#options.sampleRate }), 0);
    return file;
  }

  async #finish(): Promise<void> {
    this.#handOver();
    await this.#writing;
    const file = this.#file;
    if (file === undefined) return;
    const header = wavHeader({ sampleRate: this.#options.sampleRate, samples: this.#written / 2 });
    try {
      await this.#options.turns.take(() => writeAll(file, header, 0).finally(() => file.close()));
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
