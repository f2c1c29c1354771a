import { type FileHandle, open } from "node:fs/promises";
import { WAV_HEADER_BYTES, wavHeader } from "../../src/audio/wav/wav-header.ts";
import type { IncompleteReason } from "../../src/domain/events.ts";
import type { SampleBuffers } from "../audio/sample-buffers.ts";
import { writeAll } from "./wav-file.ts";

/** Maximum length of the samples that a WAV header can state, bytes. */
const MAX_BYTES = 2 ** 32 - WAV_HEADER_BYTES;

/** Reason why a file ends before its call does; `no_room`: `reserve` refused it. */
export type WavStop = Exclude<IncompleteReason, "storage_quota"> | "no_room";

/** Options of a {@link WavWriter}. */
export interface WavWriterOptions {
  readonly path: string;
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: 1 | 2;
  /** One buffer is one write to the disk. Its length is a multiple of `channels`. */
  readonly buffers: SampleBuffers;
  /** Maximum number of buffers that wait while the disk is slower than the call. */
  readonly maxWaiting: number;
  /** Length of the first write, 0 to 1 of a buffer: spreads the writes of calls that start together. */
  readonly stagger: number;
  /** Maximum length of the file, ms. Default: that of the WAV format. */
  readonly maxMs?: number | undefined;
  /** Updates the header with each write, for programs that read the file while it grows. Default: only at the end. */
  readonly liveHeader?: boolean | undefined;
  /** Creates the folder of the file. */
  readonly prepare?: (() => Promise<unknown>) | undefined;
  /** Runs a round of writes; may delay it until other files have been written. */
  readonly turn?: ((round: () => Promise<void>) => Promise<void>) | undefined;
  /** Reserves room for samples, bytes; false ends the file. */
  readonly reserve?: ((bytes: number) => boolean) | undefined;
  /** Opens the file; Node's `open` by default. */
  readonly open?: typeof open | undefined;
  /** Called once if the file ends before {@link WavWriter.finish}. */
  readonly incomplete: (reason: WavStop, fault?: unknown) => void;
}

/** Samples that are written together. */
interface Batch {
  readonly samples: Int16Array<ArrayBuffer>;
  readonly length: number;
}

/**
 * Writes a WAV file of 16-bit samples while the call continues. The file can be read at any time, even after a crash.
 * {@link write} only copies; batches are then written one after the other. A full, broken or slow disk ends the file, but
 * never the call.
 */
export class WavWriter {
  readonly #options: WavWriterOptions;
  readonly #blockBytes: number;
  readonly #maxBytes: number;
  /** The current buffer, its number of samples, and the number at which it is written. */
  #buffer: Int16Array<ArrayBuffer> | undefined;
  #filled = 0;
  #enough: number;
  /** Batches that wait for the disk, oldest first. */
  #waiting: Batch[] = [];
  /** Bytes of samples that were accepted, and bytes on the disk. */
  #accepted = 0;
  #written = 0;
  #file: FileHandle | undefined;
  #writing: Promise<void> | undefined;
  /** True if no more samples are accepted. */
  #closed = false;
  /** True if writing has stopped. */
  #failed = false;
  #incomplete = false;
  #finished: Promise<void> | undefined;

  constructor(options: WavWriterOptions) {
    const { channels, sampleRate, buffers, stagger, maxMs = Infinity } = options;
    this.#options = options;
    this.#blockBytes = 2 * channels;
    this.#maxBytes = Math.min(MAX_BYTES, Math.floor((maxMs * sampleRate) / 1000) * this.#blockBytes);
    this.#enough = channels * Math.ceil((stagger * buffers.length) / channels);
  }

  /** Audio that was accepted and not lost, ms. */
  get recordedMs(): number {
    return ((this.#failed ? this.#written : this.#accepted) * 1000) / (this.#blockBytes * this.#options.sampleRate);
  }

  /** Adds samples from the start of the arrays; `right` is for two channels. Never waits or throws. */
  write(left: Int16Array, right: Int16Array | undefined, samples: number): void {
    if (this.#closed) return;
    const bytes = samples * this.#blockBytes;
    if (this.#accepted + bytes > this.#maxBytes) this.#stop("too_long");
    else if (this.#waiting.length >= this.#options.maxWaiting) this.#stop("disk_slow");
    if (this.#closed) return;
    this.#accepted += bytes;
    for (let from = 0; from < samples; ) {
      this.#buffer ??= this.#options.buffers.take();
      const room = Math.max(1, (this.#enough - this.#filled) / this.#options.channels);
      const to = Math.min(samples, from + room);
      if (right === undefined)
        this.#buffer.set(to - from === left.length ? left : left.subarray(from, to), this.#filled);
      else interleave(left, right, from, to, this.#buffer, this.#filled);
      this.#filled += (to - from) * this.#options.channels;
      from = to;
      if (this.#filled >= this.#enough) this.#handOver();
    }
  }

  /** Resolves when all accepted samples are on the disk, or lost. Never rejects. */
  async flush(): Promise<void> {
    this.#handOver();
    await this.#writing;
  }

  /** Accepts no more samples; resolves when the file is complete. Idempotent; never rejects. */
  finish(): Promise<void> {
    this.#closed = true;
    this.#finished ??= this.flush().then(() => this.#complete());
    return this.#finished;
  }

  #handOver(): void {
    if (this.#buffer === undefined) return;
    this.#waiting.push({ samples: this.#buffer, length: this.#filled });
    this.#buffer = undefined;
    this.#filled = 0;
    this.#enough = this.#options.buffers.length;
    this.#writing ??= this.#write();
  }

  /** Writes until no batch is left. */
  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && !this.#failed) await this.#turn(() => this.#writeWaiting());
    } catch (fault) {
      const { code } = fault as { code?: unknown };
      this.#fail(code === "ENOSPC" || code === "EDQUOT" ? "disk_full" : "disk_failed", fault);
    }
    this.#writing = undefined;
  }

  async #writeWaiting(): Promise<void> {
    const { reserve, buffers, liveHeader } = this.#options;
    const batches = this.#waiting;
    this.#waiting = [];
    for (const { samples, length } of batches) {
      const bytes = new Uint8Array(samples.buffer, 0, 2 * length);
      if (reserve?.(bytes.length) === false) return this.#fail("no_room");
      this.#file ??= await this.#create();
      await writeAll(this.#file, bytes, WAV_HEADER_BYTES + this.#written);
      this.#written += bytes.length;
      if (liveHeader) await this.#writeLength(this.#file);
      buffers.release(samples);
    }
  }

  async #create(): Promise<FileHandle> {
    const { path, sampleRate, channels } = this.#options;
    await this.#options.prepare?.();
    const file = await (this.#options.open ?? open)(path, "w", 0o600);
    this.#file = file; // closed at the end, even if its header cannot be written
    await writeAll(file, wavHeader({ sampleRate, channels }), 0);
    return file;
  }

  async #complete(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    try {
      await this.#turn(() => this.#writeLength(file).finally(() => file.close()));
    } catch {
      // Readers go by the size of the file, so a header without its length is fine.
    }
  }

  async #writeLength(file: FileHandle): Promise<void> {
    const { sampleRate, channels } = this.#options;
    await writeAll(file, wavHeader({ sampleRate, channels, samples: this.#written / this.#blockBytes }), 0);
  }

  #turn(round: () => Promise<void>): Promise<void> {
    return this.#options.turn?.(round) ?? round();
  }

  /** Stops writing; the samples on the disk stay. */
  #fail(reason: WavStop, fault?: unknown): void {
    this.#failed = true;
    this.#waiting = [];
    this.#stop(reason, fault);
  }

  #stop(reason: WavStop, fault?: unknown): void {
    this.#closed = true;
    if (this.#incomplete) return;
    this.#incomplete = true;
    this.#options.incomplete(reason, fault);
  }
}

/** Writes both channels' samples from `from` to `to` into `into` from `at` on. */
function interleave(left: Int16Array, right: Int16Array, from: number, to: number, into: Int16Array, at: number): void {
  for (let i = from, next = at; i < to; i++) {
    into[next++] = left[i]!;
    into[next++] = right[i]!;
  }
}
