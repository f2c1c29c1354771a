import type { DatabaseSync } from "node:sqlite";
import { StorageUnavailable } from "../../src/ports/storage.ts";
import type { AudioFileJobs } from "./audio-file-job.ts";

/** A file up to this size is written with its call; to write a larger one takes longer than audio can wait, bytes. */
export const SMALL_FILE: number = 256 << 10;
/** SQLite's own default, pages. */
const CHECKPOINT_PAGES = 1_000;
const PATIENCE_MS = 60_000;

/** The part of a worker pool that the storage uses. `WorkerPool` fits. */
export interface AudioFileWorkers {
  run(
    job: { readonly kind: "audio-file" } & AudioFileJobs["audio-file"]["input"],
    options: { readonly timeoutMs: number; readonly transfer: readonly ArrayBuffer[] },
  ): AsyncIterable<AudioFileJobs["audio-file"]["piece"]>;
}

/** Writes large audio files of calls away from the thread that carries audio. */
export interface AudioFiles {
  /** Stores the file of a call that is about to be stored. @throws {StorageUnavailable} */
  put(callId: string, bytes: Uint8Array): Promise<void>;
  /** Deletes the file of a call. @throws {StorageUnavailable} */
  remove(callId: string): Promise<void>;
}

/** By workers, with connections of their own. */
export function sqliteAudioFiles(
  workers: AudioFileWorkers,
  { path, prefix, synchronous, maxPageCount }: Omit<AudioFileJobs["audio-file"]["input"], "callId" | "file">,
  database: DatabaseSync,
): AudioFiles {
  let working = 0;

  async function run(callId: string, bytes?: Uint8Array): Promise<void> {
    // The caller keeps the file; a copy moves, which is quicker than to have the message copied.
    const file = bytes && new Uint8Array(bytes).buffer;
    const job = { kind: "audio-file", path, prefix, synchronous, maxPageCount, callId, file } as const;
    const transfer = file ? [file] : [];
    // The worker moves the file out of the WAL; a commit on this thread would do it here.
    if (working++ === 0) database.exec("pragma wal_autocheckpoint = 0");
    try {
      for await (const { unavailable } of workers.run(job, { timeoutMs: PATIENCE_MS, transfer }))
        if (unavailable !== undefined) throw new StorageUnavailable(unavailable);
    } finally {
      if (--working === 0 && database.isOpen) database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    }
  }

  return { put: run, remove: (callId) => run(callId) };
}
