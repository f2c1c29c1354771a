import { type FileHandle, open } from "node:fs/promises";
import { WAV_HEADER_BYTES, wavHeader } from "../../src/audio/wav.ts";
import type { IncompleteReason, RecordingWriter } from "../../src/ports/recordings.ts";
import { writeAll } from "../audio/wav-file.ts";

/** Bytes of a sample of both channels. */
const BLOCK_BYTES = 4;
/** So much is written to the disk at once, and what a crash may lose, ms. */
const BATCH_MS = 1_000;
/** While the disk is slower than the call, so many batches may wait. */
const MOST_WAITING = 10;
/** A WAV file cannot state a greater length of its samples. */
const MOST_BYTES = 2 ** 32 - WAV_HEADER_BYTES;

/** What a recording needs. */
export interface WavRecordingOptions {
  readonly path: string;
  readonly sampleRate: number;
  /** Makes the folder of the file. */
  readonly ready: () => Promise<unknown>;
  readonly incomplete: (reason: IncompleteReason, fault?: unknown) => void;
  /** Size of the first batch, 0 to 1 of a whole one: spreads the writes of calls that begin together. */
  readonly stagger: number;
  /** Opens the file; that of Node unless given. */
  readonly open?: typeof open | undefined;
}

/** Samples that are written together, a left one and a right one by turns. */
interface Batch {
  readonly samples: Int16Array<ArrayBuffer>;
  readonly length: number;
}

/**
 * Both sides of one call, written to a WAV file while it happens. The header is put right with each batch, so the file can
 * be read at any time, also after a crash. {@link write} only copies; the disk works behind it, one batch after the other.
 */
export class WavRecording implements RecordingWriter {
  readonly #options: WavRecordingOptions;
  readonly #batch: number;
  /** What is being filled, how far, and how far until it is written. */
  #samples: Int16Array<ArrayBuffer> | undefined;
  #filled = 0;
  #enough: number;
  /** A batch that is on the disk, to be filled again. */
  #spare: Int16Array<ArrayBuffer> | undefined;
  #waiting: Batch[] = [];
  /** Bytes of samples that were taken, and that are on the disk. */
  #taken = 0;
  #written = 0;
  #file: FileHandle | undefined;
  #writing: Promise<void> | undefined;
  #closed = false;
  #failed = false;
  /** Has said that something is missing. */
  #told = false;
  #finished: Promise<void> | undefined;

  constructor(options: WavRecordingOptions) {
    this.#options = options;
    this.#batch = (2 * options.sampleRate * BATCH_MS) / 1000;
    this.#enough = 2 * Math.ceil((options.stagger * this.#batch) / 2);
  }

  get recordedMs(): number {
    return ((this.#failed ? this.#written : this.#taken) * 1000) / (BLOCK_BYTES * this.#options.sampleRate);
  }

  write(heard: Int16Array, said: Int16Array, samples: number): void {
    if (this.#closed) return;
    if (this.#waiting.length >= MOST_WAITING) this.#stop("disk_slow");
    else if (this.#taken + samples * BLOCK_BYTES > MOST_BYTES) this.#stop("too_long");
    if (this.#closed) return;
    this.#taken += samples * BLOCK_BYTES;
    for (let i = 0; i < samples; i++) {
      this.#samples ??= this.#empty();
      this.#samples[this.#filled++] = heard[i]!;
      this.#samples[this.#filled++] = said[i]!;
      if (this.#filled >= this.#enough) this.#handOver();
    }
  }

  /** Resolves when all that was taken so far is on the disk, or lost. Never rejects. */
  async flush(): Promise<void> {
    this.#handOver();
    await this.#writing;
  }

  finish(): Promise<void> {
    this.#closed = true;
    this.#finished ??= this.flush().then(() => this.#file?.close().catch(() => {}));
    return this.#finished;
  }

  #empty(): Int16Array<ArrayBuffer> {
    const samples = this.#spare ?? new Int16Array(this.#batch);
    this.#spare = undefined;
    return samples;
  }

  #handOver(): void {
    if (this.#samples === undefined) return;
    this.#waiting.push({ samples: this.#samples, length: this.#filled });
    this.#samples = undefined;
    this.#filled = 0;
    this.#enough = this.#batch;
    this.#writing ??= this.#write();
  }

  /** Writes what waits until nothing does. */
  async #write(): Promise<void> {
    try {
      for (let batch = this.#waiting[0]; batch !== undefined && !this.#failed; batch = this.#waiting[0]) {
        this.#file ??= await this.#create();
        const bytes = new Uint8Array(batch.samples.buffer, 0, 2 * batch.length);
        await writeAll(this.#file, bytes, WAV_HEADER_BYTES + this.#written);
        this.#written += bytes.length;
        await this.#writeHeader(this.#file);
        this.#waiting.shift();
        this.#spare = batch.samples;
      }
    } catch (fault) {
      this.#fail(fault);
    }
    this.#writing = undefined;
  }

  async #create(): Promise<FileHandle> {
    await this.#options.ready();
    return (this.#options.open ?? open)(this.#options.path, "w", 0o600);
  }

  async #writeHeader(file: FileHandle): Promise<void> {
    const { sampleRate } = this.#options;
    await writeAll(file, wavHeader({ sampleRate, channels: 2, samples: this.#written / BLOCK_BYTES }), 0);
  }

  /** Nothing more is written; what is on the disk stays. */
  #fail(fault: unknown): void {
    this.#failed = true;
    this.#waiting = [];
    const { code } = fault as { code?: unknown };
    this.#stop(code === "ENOSPC" || code === "EDQUOT" ? "disk_full" : "disk_failed", fault);
  }

  #stop(reason: IncompleteReason, fault?: unknown): void {
    this.#closed = true;
    if (this.#told) return;
    this.#told = true;
    this.#options.incomplete(reason, fault);
  }
}
