import type { DatabaseSync } from "node:sqlite";
import { sqliteUnavailable } from "./sqlite-errors.ts";

/** What a SQLite storage asks of a worker. One piece. */
export interface AudioFileJobs {
  "audio-file": { readonly input: AudioFileInput; readonly piece: AudioFileResult };
}

/** The file that was read, if there is one, or why the database cannot do it now. */
export interface AudioFileResult {
  readonly file?: ArrayBuffer | undefined;
  readonly unavailable?: string | undefined;
}

export interface AudioFileInput {
  readonly path: string;
  /** What the table's name begins with. */
  readonly prefix: string | undefined;
  readonly synchronous: "FULL" | "NORMAL";
  readonly maxPageCount: number | undefined;
  readonly callId: string;
  readonly task: "read" | "store" | "delete";
  /** What is stored. */
  readonly file?: ArrayBuffer | undefined;
}

/** How long another writer may take, ms. */
const BUSY_MS = 2_000;
const CHECKPOINT_TRIES = 50;
const PAUSE_MS = 5;

/** Reads, stores or deletes an audio file on a connection of its own; what it changes it moves out of the WAL. */
export async function audioFileJob(
  input: AudioFileInput,
  { emit }: { emit(piece: AudioFileResult, transfer?: readonly ArrayBuffer[]): void },
): Promise<void> {
  const sqlite = await import("node:sqlite");
  const { path, prefix = "", synchronous, maxPageCount, callId, task, file } = input;
  const table = `"${prefix}call_audio"`;
  let database: DatabaseSync | undefined;
  try {
    database = new sqlite.DatabaseSync(path);
    database.exec(`pragma busy_timeout = ${BUSY_MS}; pragma secure_delete = on; pragma wal_autocheckpoint = 0`);
    database.exec(`pragma synchronous = ${synchronous}`);
    if (maxPageCount !== undefined) database.exec(`pragma max_page_count = ${Math.trunc(maxPageCount)}`);
    if (task === "read") {
      const row = database.prepare(`select bytes from ${table} where call_id = ?`).get(callId);
      const read = row && new Uint8Array(row.bytes as Uint8Array).buffer;
      emit({ file: read }, read ? [read] : []);
      return;
    }
    if (file) database.prepare(`insert into ${table} (call_id, bytes) values (?, ?)`).run(callId, new Uint8Array(file));
    else database.prepare(`delete from ${table} where call_id = ?`).run(callId);
    await emptyWal(database);
    emit({});
  } catch (error) {
    const unavailable = sqliteUnavailable(error);
    if (unavailable === undefined) throw error;
    emit({ unavailable });
  } finally {
    database?.close();
  }
}

async function emptyWal(database: DatabaseSync): Promise<void> {
  const checkpoint = database.prepare("pragma wal_checkpoint(passive)");
  for (let left = CHECKPOINT_TRIES; left > 0; left--) {
    const { busy, log, checkpointed } = checkpoint.get() as Record<"busy" | "log" | "checkpointed", number>;
    if (busy === 0 && log === checkpointed) return;
    // A reader still needs what the WAL would overwrite.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
