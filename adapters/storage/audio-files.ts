import type { DatabaseSync } from "node:sqlite";
import { copyInTurns } from "../../src/audio/copy-in-turns.ts";
import { StorageUnavailable } from "../../src/ports/storage.ts";
import type { AudioFileInput, AudioFileJobs } from "./audio-file-job.ts";

/** Up to this size a file is written with its call. A larger one would delay audio. */
export const MAX_SMALL_FILE_BYTES: number = 256 << 10;
/** SQLite's own default, pages. */
const CHECKPOINT_PAGES = 1_000;
const JOB_TIMEOUT_MS = 60_000;

/** The part of a worker pool that the storage uses. `WorkerPool` fits. */
export interface AudioFileWorkers {
  run(
    job: { readonly kind: "audio-file" } & AudioFileJobs["audio-file"]["input"],
    options: { readonly timeoutMs: number; readonly transfer: readonly ArrayBuffer[] },
  ): AsyncIterable<AudioFileJobs["audio-file"]["piece"]>;
}

/** Large audio files of calls, away from the thread that carries audio. */
export interface AudioFiles {
  /** The file of a call, if it has one. @throws {StorageUnavailable} */
  get(callId: string): Promise<Uint8Array | undefined>;
  /** Stores the file of a call that is about to be stored. @throws {StorageUnavailable} */
  put(callId: string, bytes: Uint8Array): Promise<void>;
  /** Deletes the file of a call. @throws {StorageUnavailable} */
  remove(callId: string): Promise<void>;
}

/** Audio files in SQLite, read and written by workers with separate connections. */
export function sqliteAudioFiles(
  workers: AudioFileWorkers,
  location: Pick<AudioFileInput, "path" | "prefix" | "synchronous" | "maxPageCount">,
  database: DatabaseSync,
): AudioFiles {
  let changing = 0;

  async function run(work: Pick<AudioFileInput, "callId" | "task" | "file">): Promise<ArrayBuffer | undefined> {
    const job = { kind: "audio-file", ...location, ...work } as const;
    const transfer = work.file ? [work.file] : [];
    for await (const { file, unavailable } of workers.run(job, { timeoutMs: JOB_TIMEOUT_MS, transfer })) {
      if (unavailable !== undefined) throw new StorageUnavailable(unavailable);
      return file;
    }
    return undefined;
  }

  async function change(work: Parameters<typeof run>[0]): Promise<void> {
    // The worker moves the file out of the WAL; a commit on this thread would do it here.
    if (changing++ === 0) database.exec("pragma wal_autocheckpoint = 0");
    try {
      await run(work);
    } finally {
      if (--changing === 0 && database.isOpen) database.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    }
  }

  return {
    async get(callId) {
      const file = await run({ callId, task: "read" });
      return file && new Uint8Array(file);
    },
    // The caller keeps the file. Transferring a copy is faster than letting the message be copied.
    put: async (callId, bytes) => change({ callId, task: "store", file: await copyInTurns(bytes) }),
    remove: (callId) => change({ callId, task: "delete" }),
  };
}
