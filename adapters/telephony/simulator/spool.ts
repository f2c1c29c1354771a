import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WAV_HEADER_BYTES } from "../../../src/audio/wav/wav-header.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import type { StoredRecording } from "../../../src/ports/recordings.ts";
import { SampleBuffers } from "../../audio/sample-buffers.ts";
import { readWav } from "../../recordings/wav-file.ts";
import { type WavStop, WavWriter } from "../../recordings/wav-writer.ts";
import { Semaphore } from "./semaphore.ts";

const SUFFIX = ".heard.wav";
/** Ids that are safe as part of a path; every call id is one. */
const SAFE_ID = /^[a-z0-9][a-z0-9_-]{0,99}$/;

/** Number of samples in one buffer: 0.48 s at 16 kHz, 15 KiB. */
const BUFFER_SAMPLES = 7_680;
/** Maximum number of unused buffers, about 1 MiB: between two writes a call needs only one. */
const MAX_SPARE_BUFFERS = 64;
/** Maximum number of buffers per call that wait for the disk: 8 s at 16 kHz. */
const MAX_PENDING_BUFFERS = 17;

const STOP_REASONS: Readonly<Record<WavStop, string>> = {
  too_long: "it has reached the maximum length",
  disk_slow: "the disk is slower than the call",
  no_room: "the spool is full",
  disk_full: "the disk is full",
  disk_failed: "the disk failed",
};

/** Options of {@link Spool}. */
export interface SpoolOptions {
  /** Folder for the recordings. Default: a new temporary folder, deleted when the spool is closed. */
  readonly dir: string | undefined;
  /** Limit for all recordings together, bytes. */
  readonly maxBytes: number;
  /** Limit for one instance's recordings since the spool was opened, bytes. */
  readonly maxInstanceBytes: number;
  /** Maximum length of a recording, ms. */
  readonly maxRecordingMs: number;
  readonly logger: Logger;
}

/** A recording on disk. */
interface SpooledRecording {
  /** The call's instance; undefined if an earlier run recorded the call. */
  readonly instanceId: string | undefined;
  bytes: number;
}

interface LiveRecording extends SpooledRecording {
  readonly recording: WavWriter;
}

/**
 * Audio that callees heard, as WAV files on disk, within a fixed size: the instance's oldest, then the oldest of all,
 * make room for the newest.
 */
export class Spool {
  readonly #options: SpoolOptions;
  /** Finished recordings by call, oldest first. */
  readonly #finishedRecordings = new Map<string, SpooledRecording>();
  /** Recordings of calls that have not ended. */
  readonly #liveRecordings = new Map<string, LiveRecording>();
  readonly #incompleteIds = new Set<string>();
  // One write at a time: otherwise a thousand calls that start together keep every core busy creating files while their
  // audio waits. A call that gets its turn later writes more at a time.
  readonly #writes = new Semaphore(1);
  readonly #buffers = new SampleBuffers(BUFFER_SAMPLES, MAX_SPARE_BUFFERS);
  #bytes = 0;
  /** Number of recorded bytes by instance. */
  readonly #instanceBytes = new Map<string, number>();
  #startedCount = 0;
  #dir: string | undefined;
  #readyPromise: Promise<void> | undefined;

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /** Creates the folder, or lists an earlier run's recordings. Rejects if that fails; may be retried. */
  open(): Promise<void> {
    this.#readyPromise ??= this.#scan().catch((error: unknown) => {
      this.#readyPromise = undefined;
      throw error;
    });
    return this.#readyPromise;
  }

  /** Starts recording a call; if that is impossible, logs it and returns undefined. The spool must be open. */
  record(callId: string, instanceId: string, sampleRate: number): WavWriter | undefined {
    const { maxRecordingMs, logger } = this.#options;
    if (this.#dir === undefined || !SAFE_ID.test(callId) || this.#liveRecordings.has(callId)) {
      logger.warn({ call_id: callId }, "simulator: the call is not recorded");
      return undefined;
    }
    this.#release(callId);
    const liveRecording: LiveRecording = {
      instanceId,
      bytes: 0,
      recording: new WavWriter({
        path: this.#path(callId),
        sampleRate,
        channels: 1,
        maxMs: maxRecordingMs,
        maxWaiting: MAX_PENDING_BUFFERS,
        stagger: ((this.#startedCount++ % 24) + 1) / 24,
        turn: (round) => this.#writes.run(round),
        buffers: this.#buffers,
        reserve: (bytes) => this.#reserve(liveRecording, bytes),
        onIncomplete: (stop, fault) => {
          this.#incompleteIds.add(callId);
          logger.warn(
            { call_id: callId, reason: STOP_REASONS[stop], err: fault },
            "simulator: the recording is incomplete",
          );
        },
      }),
    };
    this.#liveRecordings.set(callId, liveRecording);
    return liveRecording.recording;
  }

  /** Completes the recording of a call that has ended. Never rejects. */
  async finish(callId: string): Promise<void> {
    const liveRecording = this.#liveRecordings.get(callId);
    if (liveRecording === undefined) return;
    await liveRecording.recording.finish();
    if (this.#liveRecordings.get(callId) !== liveRecording) return;
    this.#liveRecordings.delete(callId);
    if (liveRecording.bytes > 0)
      this.#finishedRecordings.set(callId, { instanceId: liveRecording.instanceId, bytes: liveRecording.bytes });
  }

  /** The WAV file of a call, if any. */
  async read(callId: string): Promise<(StoredRecording & { readonly incomplete: boolean }) | undefined> {
    if (!SAFE_ID.test(callId)) return undefined;
    await this.open();
    const file = await readWav(this.#path(callId), 1);
    return file && { ...file, incomplete: this.#incompleteIds.has(callId) };
  }

  /** Deletes the recordings of these calls. */
  async forget(callIds: readonly string[]): Promise<void> {
    await this.open();
    for (const callId of callIds) {
      if (!SAFE_ID.test(callId)) continue;
      await this.finish(callId);
      this.#release(callId);
      await rm(this.#path(callId), { force: true });
    }
  }

  /** Completes all recordings. */
  async close(): Promise<void> {
    await Promise.all([...this.#liveRecordings.keys()].map((callId) => this.finish(callId)));
    await this.#readyPromise?.catch(() => {});
    if (this.#options.dir === undefined && this.#dir !== undefined)
      await rm(this.#dir, { recursive: true, force: true }).catch(() => {});
  }

  async #scan(): Promise<void> {
    const dir = this.#options.dir ?? (await mkdtemp(join(tmpdir(), "ringport-simulator-")));
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const recordings: { callId: string; bytes: number; at: number }[] = [];
    for (const name of await readdir(dir)) {
      const callId = name.slice(0, -SUFFIX.length);
      if (!name.endsWith(SUFFIX) || !SAFE_ID.test(callId)) continue;
      const file = await stat(join(dir, name)).catch(unlessMissing);
      if (file?.isFile()) recordings.push({ callId, bytes: file.size, at: file.mtimeMs });
    }
    for (const { callId, bytes } of recordings.sort((a, b) => a.at - b.at)) {
      this.#finishedRecordings.set(callId, { instanceId: undefined, bytes });
      this.#bytes += bytes;
    }
    this.#dir = dir;
    this.#makeRoom(undefined, 0);
  }

  #reserve(liveRecording: LiveRecording, bytes: number): boolean {
    const size = liveRecording.bytes === 0 ? bytes + WAV_HEADER_BYTES : bytes;
    if (!this.#makeRoom(liveRecording.instanceId, size)) return false;
    liveRecording.bytes += size;
    this.#count(liveRecording.instanceId, size);
    return true;
  }

  /** Deletes the oldest recordings until `bytes` more from an instance fit in; returns false if that is not enough. */
  #makeRoom(instanceId: string | undefined, bytes: number): boolean {
    const { maxBytes, maxInstanceBytes } = this.#options;
    const instanceFits = () => this.#bytesOf(instanceId) + bytes <= maxInstanceBytes;
    const fits = () => this.#bytes + bytes <= maxBytes;
    this.#deleteOldest((entry) => entry.instanceId === instanceId, instanceFits);
    if (!instanceFits()) return false;
    this.#deleteOldest(() => true, fits);
    return fits();
  }

  #deleteOldest(matches: (entry: SpooledRecording) => boolean, fits: () => boolean): void {
    if (fits()) return;
    for (const [callId, entry] of this.#finishedRecordings) {
      if (!matches(entry)) continue;
      this.#release(callId);
      void rm(this.#path(callId), { force: true }).catch((fault: unknown) =>
        this.#options.logger.warn({ call_id: callId, err: fault }, "simulator: an old recording could not be deleted"),
      );
      if (fits()) return;
    }
  }

  #release(callId: string): void {
    const entry = this.#finishedRecordings.get(callId);
    if (entry) this.#count(entry.instanceId, -entry.bytes);
    this.#finishedRecordings.delete(callId);
    this.#incompleteIds.delete(callId);
  }

  #count(instanceId: string | undefined, bytes: number): void {
    this.#bytes += bytes;
    if (instanceId === undefined) return;
    const total = this.#bytesOf(instanceId) + bytes;
    if (total > 0) this.#instanceBytes.set(instanceId, total);
    else this.#instanceBytes.delete(instanceId);
  }

  /** Number of an instance's recorded bytes; 0 if it is unknown. */
  #bytesOf(instanceId: string | undefined): number {
    return (instanceId !== undefined && this.#instanceBytes.get(instanceId)) || 0;
  }

  #path(callId: string): string {
    return join(this.#dir ?? "", callId + SUFFIX);
  }
}

function unlessMissing(error: unknown): undefined {
  if ((error as { code?: unknown } | null)?.code === "ENOENT") return undefined;
  throw error;
}
