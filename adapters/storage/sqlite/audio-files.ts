import type { DatabaseSync } from "node:sqlite";
import { copyInTurns } from "../../../src/audio/copy-in-turns.ts";
import { concatBytes } from "../../../src/base/concat-bytes.ts";
import { StorageUnavailable } from "../../../src/ports/storage.ts";
import { nodeSqlite, sqliteUnavailable } from "./node-sqlite.ts";

/** Maximum size of a file that is written with its call; a larger one would delay audio. */
export const MAX_SMALL_FILE_BYTES: number = 256 << 10;
const JOB_TIMEOUT_MS = 60_000;

/** The part of a worker pool that the storage uses, such as `WorkerPool`. */
export interface AudioFileWorkers {
  run(
    job: { readonly kind: "audio-file" } & AudioFileJobs["audio-file"]["input"],
    options: { readonly timeoutMs: number; readonly transfer: readonly ArrayBuffer[] },
  ): AsyncIterable<AudioFileJobs["audio-file"]["piece"]>;
}

/** Reads and writes calls' large audio files away from the thread that carries audio. */
export interface AudioFiles {
  /** The file of a call, if it has one. @throws {StorageUnavailable} */
  get(callId: string): Promise<Uint8Array | undefined>;
  /** Stores the file of a call that is about to be stored. @throws {StorageUnavailable} */
  put(callId: string, bytes: Uint8Array): Promise<void>;
  /** Deletes the file of a call. @throws {StorageUnavailable} */
  remove(callId: string): Promise<void>;
  /** Resolves when no worker reads or writes a file. */
  close(): Promise<void>;
}

/** Audio files in SQLite, read and written by workers with separate connections. */
export function sqliteAudioFiles(
  workers: AudioFileWorkers,
  location: Pick<AudioFileInput, "path" | "prefix" | "synchronous" | "maxPageCount">,
): AudioFiles {
  const runningJobs = new Set<Promise<unknown>>();

  type Work = Pick<AudioFileInput, "callId" | "task" | "file">;

  async function run(work: Work): Promise<ArrayBuffer | undefined> {
    const job = runJob(work);
    runningJobs.add(job);
    try {
      return await job;
    } finally {
      runningJobs.delete(job);
    }
  }

  async function runJob(work: Work): Promise<ArrayBuffer | undefined> {
    const job = { kind: "audio-file", ...location, ...work } as const;
    const transfer = work.file ? [work.file] : [];
    for await (const { file, unavailableReason } of workers.run(job, { timeoutMs: JOB_TIMEOUT_MS, transfer })) {
      if (unavailableReason !== undefined) throw new StorageUnavailable(unavailableReason);
      return file;
    }
    return undefined;
  }

  return {
    async get(callId) {
      const file = await run({ callId, task: "read" });
      return file && new Uint8Array(file);
    },
    // The caller keeps the file. Transferring a copy is faster than letting the message be copied.
    async put(callId, bytes) {
      await run({ callId, task: "store", file: await copyInTurns(bytes) });
    },
    async remove(callId) {
      await run({ callId, task: "delete" });
    },
    async close() {
      await Promise.allSettled(runningJobs);
    },
  };
}

/** The jobs of a SQLite storage; each yields one piece. */
export interface AudioFileJobs {
  "audio-file": { readonly input: AudioFileInput; readonly piece: AudioFileResult };
}

/** The file that was read, if there is one, or the reason why the database is unavailable. */
interface AudioFileResult {
  readonly file?: ArrayBuffer | undefined;
  readonly unavailableReason?: string | undefined;
}

interface AudioFileInput {
  readonly path: string;
  /** The prefix of the table name. */
  readonly prefix: string | undefined;
  readonly synchronous: "FULL" | "NORMAL";
  readonly maxPageCount: number | undefined;
  readonly callId: string;
  readonly task: "read" | "store" | "delete";
  /** The file to store. */
  readonly file?: ArrayBuffer | undefined;
}

/** Time to wait for another writer, ms. */
const BUSY_MS = 2_000;
/**
 * Number of bytes that are written before the WAL is emptied. A commit by the thread that carries audio waits for this
 * write: up to 50 ms for 10 MiB, 3 ms for this size.
 */
const PART_BYTES = 512 << 10;
const CHECKPOINT_ATTEMPTS = 50;
const PAUSE_MS = 5;

/**
 * Reads, stores or deletes an audio file on a separate connection, and moves its changes out of the WAL. The connection is
 * closed before the piece is emitted, because the receiver may delete the database.
 */
export async function audioFileJob(
  input: AudioFileInput,
  { emit }: { emit(piece: AudioFileResult, transfer?: readonly ArrayBuffer[]): void },
): Promise<void> {
  const result = await resultOf(input).catch((error: unknown): AudioFileResult => {
    const unavailableReason = sqliteUnavailable(error);
    if (unavailableReason === undefined) throw error;
    return { unavailableReason };
  });
  emit(result, result.file ? [result.file] : []);
}

async function resultOf(input: AudioFileInput): Promise<AudioFileResult> {
  const sqlite = await nodeSqlite();
  const { path, prefix = "", synchronous, maxPageCount, callId, task, file } = input;
  const table = `"${prefix}call_audio"`;
  const database = new sqlite.DatabaseSync(path);
  try {
    database.exec(`pragma busy_timeout = ${BUSY_MS}; pragma secure_delete = on; pragma wal_autocheckpoint = 0`);
    database.exec(`pragma synchronous = ${synchronous}`);
    if (maxPageCount !== undefined) database.exec(`pragma max_page_count = ${Math.trunc(maxPageCount)}`);
    if (task === "read") return { file: readParts(database, table, callId) };
    if (file) await storeParts(database, table, callId, file);
    else await deleteParts(database, table, callId);
    return {};
  } finally {
    database.close();
  }
}

function readParts(database: DatabaseSync, table: string, callId: string): ArrayBuffer | undefined {
  const rows = database.prepare(`select bytes from ${table} where call_id = ? order by part`).all(callId);
  return rows.length > 0 ? concatBytes(rows.map(({ bytes }) => bytes as Uint8Array)).buffer : undefined;
}

/** Stores a file in parts. Parts left after an error belong to no call; the next start deletes them. */
async function storeParts(database: DatabaseSync, table: string, callId: string, file: ArrayBuffer): Promise<void> {
  const insert = database.prepare(`insert or replace into ${table} (call_id, part, bytes) values (?, ?, ?)`);
  try {
    for (let part = 0; part * PART_BYTES < file.byteLength; part++) {
      const from = part * PART_BYTES;
      insert.run(callId, part, new Uint8Array(file, from, Math.min(PART_BYTES, file.byteLength - from)));
      await emptyWal(database);
    }
  } catch (error) {
    await deleteParts(database, table, callId).catch(() => {});
    throw error;
  }
}

async function deleteParts(database: DatabaseSync, table: string, callId: string): Promise<void> {
  const lastPart = `select max(part) from ${table} where call_id = ?`;
  const remove = database.prepare(`delete from ${table} where call_id = ? and part = (${lastPart})`);
  while (Number(remove.run(callId, callId).changes) > 0) await emptyWal(database);
}

async function emptyWal(database: DatabaseSync): Promise<void> {
  const checkpoint = database.prepare("pragma wal_checkpoint(passive)");
  for (let attempts = CHECKPOINT_ATTEMPTS; attempts > 0; attempts--) {
    const { busy, log, checkpointed } = checkpoint.get() as Record<"busy" | "log" | "checkpointed", number>;
    if (busy === 0 && log === checkpointed) return;
    // A reader still needs pages that the checkpoint would overwrite.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
