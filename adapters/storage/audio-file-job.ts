import { sqliteUnavailable } from "./sqlite-errors.ts";

/** What a SQLite storage asks of a worker. One piece: why the database cannot do it now, or nothing. */
export interface AudioFileJobs {
  "audio-file": { readonly input: AudioFileInput; readonly piece: { readonly unavailable?: string | undefined } };
}

export interface AudioFileInput {
  readonly path: string;
  /** What the table's name begins with. */
  readonly prefix: string | undefined;
  readonly synchronous: "FULL" | "NORMAL";
  readonly maxPageCount: number | undefined;
  readonly callId: string;
  /** What is stored for the call; without it, what is stored is deleted. */
  readonly file?: ArrayBuffer | undefined;
}

/** How long another writer may take, ms. */
const BUSY_MS = 2_000;
const CHECKPOINT_TRIES = 50;
const PAUSE_MS = 5;

/** Stores or deletes an audio file on a connection of its own, and moves it from the WAL to the database file. */
export async function audioFileJob(
  input: AudioFileInput,
  { emit }: { emit(piece: AudioFileJobs["audio-file"]["piece"]): void },
): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const { path, prefix = "", synchronous, maxPageCount, callId, file } = input;
  const table = `"${prefix}call_audio"`;
  let database: InstanceType<typeof DatabaseSync> | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec(`pragma busy_timeout = ${BUSY_MS}; pragma secure_delete = on; pragma wal_autocheckpoint = 0`);
    database.exec(`pragma synchronous = ${synchronous}`);
    if (maxPageCount !== undefined) database.exec(`pragma max_page_count = ${Math.trunc(maxPageCount)}`);
    if (file) database.prepare(`insert into ${table} (call_id, bytes) values (?, ?)`).run(callId, new Uint8Array(file));
    else database.prepare(`delete from ${table} where call_id = ?`).run(callId);
    const checkpoint = database.prepare("pragma wal_checkpoint(passive)");
    for (let left = CHECKPOINT_TRIES; left > 0; left--) {
      const { busy, log, checkpointed } = checkpoint.get() as Record<"busy" | "log" | "checkpointed", number>;
      if (busy === 0 && log === checkpointed) break;
      // A reader still needs what the WAL would overwrite.
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    emit({});
  } catch (error) {
    const unavailable = sqliteUnavailable(error);
    if (unavailable === undefined) throw error;
    emit({ unavailable });
  } finally {
    database?.close();
  }
}
