import { type FileHandle, open } from "node:fs/promises";
import { WAV_HEADER_BYTES, wavHeader } from "../../src/audio/wav/wav-header.ts";
import type { IncompleteReason } from "../../src/domain/events.ts";
import type { SampleBuffers } from "../audio/sample-buffers.ts";
import { writeAll } from "./wav-file.ts";

/** Maximum size of the samples that a WAV header can state, bytes. */
const MAX_BYTES = 2 ** 32 - WAV_HEADER_BYTES;

/** Reason why a file ends before its call does; `no_room` if `reserve` has refused more samples. */
export type WavStop = Exclude<IncompleteReason, "storage_quota"> | "no_room";

/** Options of a {@link WavWriter}. */
export interface WavWriterOptions {
  readonly path: string;
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  readonly channels: 1 | 2;
  /** Each buffer is one write to the disk. The length is a multiple of `channels`. */
  readonly buffers: SampleBuffers;
  /** Maximum number of buffers that wait while the disk is slower than the call. */
  readonly maxWaiting: number;
  /** Length of the first write, as a share of a buffer (0 to 1): spreads the writes of calls that start together. */
  readonly stagger: number;
  /** Maximum length of the file, ms. Default: the WAV format's limit. */
  readonly maxMs?: number | undefined;
  /**
   * True to update the header with each write, for programs that read the file while it grows. Default: only at the
   * end.
   */
  readonly liveHeader?: boolean | undefined;
  /** Creates the file's folder. */
  readonly prepare?: (() => Promise<unknown>) | undefined;
  /** Runs a round of writes; may delay the round until other files have been written. */
  readonly turn?: ((round: () => Promise<void>) => Promise<void>) | undefined;
  /** Reserves room for this many bytes of samples; false ends the file. */
  readonly reserve?: ((bytes: number) => boolean) | undefined;
  /** Opens the file; Node's `open` by default. */
  readonly open?: typeof open | undefined;
  /** Called once if the file ends before {@link WavWriter.finish}. */
  readonly onIncomplete: (reason: WavStop, fault?: unknown) => void;
}

/** Samples that are written together. */
interface Batch {
  readonly samples: Int16Array<ArrayBuffer>;
  readonly length: number;
}

/**
 * Writes a WAV file of 16-bit samples while the call continues. The file can be read at any time, even after a crash.
 * {@link write} only copies; batches are written afterwards, one at a time. A full, broken or slow disk ends the file,
 * but never the call.
 */
export class WavWriter {
  readonly #options: WavWriterOptions;
  readonly #blockBytes: number;
  readonly #maxBytes: number;
  /** The current buffer, its number of samples, and the number of samples at which it is written. */
  #buffer: Int16Array<ArrayBuffer> | undefined;
  #sampleCount = 0;
  #batchLength: number;
  /** Batches waiting for the disk, oldest first. */
  #pendingBatches: Batch[] = [];
  /** Number of bytes of samples that have been accepted, and number of bytes on the disk. */
  #acceptedBytes = 0;
  #writtenBytes = 0;
  #file: FileHandle | undefined;
  #writePromise: Promise<void> | undefined;
  /** True if no more samples are accepted. */
  #isClosed = false;
  /** True if writing has stopped. */
  #hasFailed = false;
  #isIncomplete = false;
  #completion: Promise<void> | undefined;

  constructor(options: WavWriterOptions) {
    const { channels, sampleRate, buffers, stagger, maxMs = Infinity } = options;
    this.#options = options;
    this.#blockBytes = 2 * channels;
    this.#maxBytes = Math.min(MAX_BYTES, Math.floor((maxMs * sampleRate) / 1000) * this.#blockBytes);
    this.#batchLength = channels * Math.ceil((stagger * buffers.length) / channels);
  }

  /** Length of the audio that has been accepted and not lost, ms. */
  get recordedMs(): number {
    return (
      ((this.#hasFailed ? this.#writtenBytes : this.#acceptedBytes) * 1000) /
      (this.#blockBytes * this.#options.sampleRate)
    );
  }

  /** Adds samples from the start of the arrays; `right` is only for two channels. Never waits or throws. */
  write(left: Int16Array, right: Int16Array | undefined, samples: number): void {
    if (this.#isClosed) return;
    const bytes = samples * this.#blockBytes;
    if (this.#acceptedBytes + bytes > this.#maxBytes) this.#stop("too_long");
    else if (this.#pendingBatches.length >= this.#options.maxWaiting) this.#stop("disk_slow");
    if (this.#isClosed) return;
    this.#acceptedBytes += bytes;
    for (let from = 0; from < samples; ) {
      this.#buffer ??= this.#options.buffers.take();
      const room = Math.max(1, (this.#batchLength - this.#sampleCount) / this.#options.channels);
      const to = Math.min(samples, from + room);
      if (right === undefined)
        this.#buffer.set(to - from === left.length ? left : left.subarray(from, to), this.#sampleCount);
      else interleave(left, right, from, to, this.#buffer, this.#sampleCount);
      this.#sampleCount += (to - from) * this.#options.channels;
      from = to;
      if (this.#sampleCount >= this.#batchLength) this.#handOver();
    }
  }

  /** Resolves when all accepted samples are on the disk or have been lost. Never rejects. */
  async flush(): Promise<void> {
    this.#handOver();
    await this.#writePromise;
  }

  /** Accepts no more samples; resolves when the file is complete. Idempotent; never rejects. */
  finish(): Promise<void> {
    this.#isClosed = true;
    this.#completion ??= this.flush().then(() => this.#complete());
    return this.#completion;
  }

  #handOver(): void {
    if (this.#buffer === undefined) return;
    this.#pendingBatches.push({ samples: this.#buffer, length: this.#sampleCount });
    this.#buffer = undefined;
    this.#sampleCount = 0;
    this.#batchLength = this.#options.buffers.length;
    this.#writePromise ??= this.#write();
  }

  /** Writes until no batch is left. */
  async #write(): Promise<void> {
    try {
      while (this.#pendingBatches.length > 0 && !this.#hasFailed) await this.#turn(() => this.#writePending());
    } catch (fault) {
      const { code } = fault as { code?: unknown };
      this.#fail(code === "ENOSPC" || code === "EDQUOT" ? "disk_full" : "disk_failed", fault);
    }
    this.#writePromise = undefined;
  }

  async #writePending(): Promise<void> {
    const { reserve, buffers, liveHeader } = this.#options;
    const batches = this.#pendingBatches;
    this.#pendingBatches = [];
    for (const { samples, length } of batches) {
      const bytes = new Uint8Array(samples.buffer, 0, 2 * length);
      if (reserve?.(bytes.length) === false) return this.#fail("no_room");
      this.#file ??= await this.#create();
      await writeAll(this.#file, bytes, WAV_HEADER_BYTES + this.#writtenBytes);
      this.#writtenBytes += bytes.length;
      if (liveHeader) await this.#writeLength(this.#file);
      buffers.release(samples);
    }
  }

  async #create(): Promise<FileHandle> {
    const { path, sampleRate, channels } = this.#options;
    await this.#options.prepare?.();
    const file = await (this.#options.open ?? open)(path, "w", 0o600);
    this.#file = file; // closed at the end, even if the header cannot be written
    await writeAll(file, wavHeader({ sampleRate, channels }), 0);
    return file;
  }

  async #complete(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    try {
      await this.#turn(() => this.#writeLength(file).finally(() => file.close()));
    } catch {
      // Readers use the file's size, so a header without the length is fine.
    }
  }

  async #writeLength(file: FileHandle): Promise<void> {
    const { sampleRate, channels } = this.#options;
    await writeAll(file, wavHeader({ sampleRate, channels, samples: this.#writtenBytes / this.#blockBytes }), 0);
  }

  #turn(round: () => Promise<void>): Promise<void> {
    return this.#options.turn?.(round) ?? round();
  }

  /** Stops writing; the samples on the disk stay. */
  #fail(reason: WavStop, fault?: unknown): void {
    this.#hasFailed = true;
    this.#pendingBatches = [];
    this.#stop(reason, fault);
  }

  #stop(reason: WavStop, fault?: unknown): void {
    this.#isClosed = true;
    if (this.#isIncomplete) return;
    this.#isIncomplete = true;
    this.#options.onIncomplete(reason, fault);
  }
}

/** Writes samples `from` to `to` of both channels into `target`, starting at `start`. */
function interleave(
  left: Int16Array,
  right: Int16Array,
  from: number,
  to: number,
  target: Int16Array,
  start: number,
): void {
  for (let i = from, next = start; i < to; i++) {
    target[next++] = left[i]!;
    target[next++] = right[i]!;
  }
}
