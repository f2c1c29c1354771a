import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { TranscriptLine } from "../../../src/domain/calls/transcript.ts";
import type { TranscriptStore } from "../../../src/ports/storage.ts";
import { type PreparedQuery, preparedQuery, type Session } from "../connected-database.ts";
import { type AudioFiles, MAX_SMALL_FILE_BYTES } from "../sqlite/audio-files.ts";
import { type Database, IS_ACTIVE, IS_UNENDED_BATCH } from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";

interface AudioKey {
  readonly id: string;
}
interface AudioRow {
  /** Id of the file's record. */
  readonly call_id: string;
  /** Null for a large file, which a worker reads. */
  readonly bytes: Uint8Array | null;
}
type Owner = (db: Kysely<Database>, id: string) => SelectQueryBuilder<Database, "calls" | "batches", { id: string }>;

/** The record of a call's or batch's file: a stored audio file, or the call or batch itself. */
const FILE_ID = sql<string>`coalesce(audio_id, id)`.as("id");
const CALL_OWNER: Owner = (db, id) => db.selectFrom("calls").select(FILE_ID).where("id", "=", id).where(IS_ACTIVE);
const BATCH_OWNER: Owner = (db, id) =>
  db.selectFrom("batches").select(FILE_ID).where("id", "=", id).where(IS_UNENDED_BATCH);

const AUDIO_OF_CALL = audioQueries(CALL_OWNER);
const AUDIO_OF_BATCH = audioQueries(BATCH_OWNER);

/** An active call's audio file. */
export function callAudio(session: Session, id: string): Promise<Uint8Array | undefined> {
  return audioOf(session, id, AUDIO_OF_CALL);
}

/** The audio file of a batch that has not ended. */
export function batchAudio(session: Session, id: string): Promise<Uint8Array | undefined> {
  return audioOf(session, id, AUDIO_OF_BATCH);
}

interface AudioQueries {
  readonly whole: PreparedQuery<AudioKey, AudioRow>;
  /** The file only if it is small. */
  readonly small: PreparedQuery<AudioKey, AudioRow>;
}

/** Queries for a record's audio file. @param owner selects its id */
function audioQueries(owner: Owner): AudioQueries {
  // Only a large file has several parts.
  const query = (bytes: RawBuilder<Uint8Array | null>) =>
    preparedQuery((db, { id }: AudioKey) =>
      db
        .selectFrom("call_audio")
        .select(["call_id", bytes.as("bytes")])
        .where("part", "=", 0)
        .where("call_id", "in", owner(db, id)),
    );
  return {
    whole: query(sql`bytes`),
    // SQLite finds the length without reading the file.
    small: query(sql`case when length(bytes) <= ${MAX_SMALL_FILE_BYTES} then bytes end`),
  };
}

/** A record's audio file. A worker reads a large file, if the database has workers. */
async function audioOf(session: Session, id: string, { whole, small }: AudioQueries): Promise<Uint8Array | undefined> {
  const { files } = session;
  const [row] = await session.query(files ? small : whole, { id });
  if (!row) return undefined;
  if (row.bytes === null) return files?.get(row.call_id);
  // pg returns a Buffer, which is a view into a larger buffer.
  return row.bytes.constructor === Uint8Array ? row.bytes : new Uint8Array(row.bytes);
}

const INSERT_FILE = preparedQuery((db, row: { readonly call_id: string; readonly bytes: Uint8Array }) =>
  db.insertInto("call_audio").values({ ...row, part: 0 }),
);

/** Stores the file of a call, a batch or a stored audio file in its transaction. */
export async function insertAudioFile(tx: Kysely<Database>, id: string, bytes: Uint8Array): Promise<void> {
  await INSERT_FILE(tx, { call_id: id, bytes });
}

const DELETE_FILE = preparedQuery((db, { id }: { id: string }) =>
  db.deleteFrom("call_audio").where("call_id", "=", id).returning("call_id"),
);
const DELETE_SMALL_FILE = preparedQuery((db, { id }: { id: string }) =>
  db
    .deleteFrom("call_audio")
    .where("call_id", "=", id)
    .where("part", "=", 0)
    .where(sql<number>`length(bytes)`, "<=", MAX_SMALL_FILE_BYTES)
    .returning("call_id"),
);

/**
 * Deletes a call's audio file in the call's transaction; returns false if a large one is left for {@link removeLater}.
 */
export async function removeAudio({ files }: Session, tx: Kysely<Database>, id: string): Promise<boolean> {
  if (!files) {
    await DELETE_FILE(tx, { id });
    return true;
  }
  if ((await DELETE_SMALL_FILE(tx, { id })).length > 0) return true;
  const largeFile = await tx.selectFrom("call_audio").select("call_id").where("call_id", "=", id).executeTakeFirst();
  return largeFile === undefined;
}

/** Deletes a large file after the commit. If that fails, the next start deletes it. */
export function removeLater({ files }: Session, callId: string): void {
  void files?.remove(callId).catch(() => {});
}

/** Deletes the files of calls and batches that have ended, and of records that do not exist. */
export async function removeOrphanedFiles(db: Kysely<Database>, files: AudioFiles): Promise<void> {
  const activeCalls = db.selectFrom("calls").select("id").where(IS_ACTIVE);
  const orphans = await db
    .selectFrom("call_audio")
    .select("call_id")
    .distinct()
    .where("call_id", "not in", activeCalls)
    .where("call_id", "not in", db.selectFrom("batches").select("id").where(IS_UNENDED_BATCH))
    .where("call_id", "not in", db.selectFrom("stored_audio").select("id"))
    .execute();
  // A file that cannot be deleted now is deleted at a later start. Until then it is unreachable.
  for (const { call_id } of orphans) await files.remove(call_id).catch(() => {});
}

/** Maximum number of rows per INSERT, and of ids per SELECT; both databases limit the parameters of one statement. */
const BATCH = 500;

/** Transcripts, one row for each line. */
export function transcriptStore(session: Session): TranscriptStore {
  return {
    append: (lines) =>
      session.transaction(async (tx) => {
        const remainingIds = await remainingCalls(tx, lines, session.traits.rowLocks);
        const rows = lines.filter(({ callId }) => remainingIds.has(callId)).map(RECORDS.transcripts.row);
        for (let from = 0; from < rows.length; from += BATCH)
          await tx
            .insertInto("transcripts")
            .values(rows.slice(from, from + BATCH))
            .onConflict((conflict) => conflict.columns(["call_id", "position"]).doNothing())
            .execute();
      }),
    ofCalls: (callIds) =>
      session.read(async (db) => {
        const rows: Database["transcripts"][] = [];
        for (let from = 0; from < callIds.length; from += BATCH)
          rows.push(
            ...(await db
              .selectFrom("transcripts")
              .selectAll()
              .where("call_id", "in", callIds.slice(from, from + BATCH))
              .orderBy("start_ms")
              .orderBy("position")
              .execute()),
          );
        return rows.map(RECORDS.transcripts.record);
      }),
  };
}

/**
 * Those of the lines' calls that still exist, locked until the transaction ends. No lines are added to an erased call.
 */
async function remainingCalls(
  tx: Kysely<Database>,
  lines: readonly TranscriptLine[],
  rowLocks: boolean,
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(lines.map(({ callId }) => callId))];
  const remainingIds = new Set<string>();
  for (let from = 0; from < ids.length; from += BATCH) {
    const rows = await tx
      .selectFrom("calls")
      .select("id")
      .where("id", "in", ids.slice(from, from + BATCH))
      .$if(rowLocks, (query) => query.forKeyShare())
      .execute();
    for (const { id } of rows) remainingIds.add(id);
  }
  return remainingIds;
}
