import { setImmediate } from "node:timers/promises";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { CodedError } from "../../../src/base/error.ts";
import type { AudioInsertion, AudioStore } from "../../../src/ports/storage.ts";
import { isDeleted } from "../accounts/consent-store.ts";
import { inPieces, MAX_PIECE } from "../bounded-deletions.ts";
import { preparedQuery, type Session, type Traits } from "../connected-database.ts";
import { countRows, pageById, readRecords } from "../record-lists.ts";
import { MAX_SMALL_FILE_BYTES } from "../sqlite/audio-files.ts";
import { charge, OverBudget, rowBytes } from "../stored-bytes.ts";
import {
  type Database,
  IS_DELETED_AUDIO,
  IS_EXPIRING_AUDIO,
  IS_KEPT_AUDIO,
  IS_UNENDED_BATCH,
  IS_USING_AUDIO,
} from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";
import { insertAudioFile, removeAudio, removeLater } from "./audio-and-transcripts.ts";
import { lockPosition } from "./event-store.ts";
import { insertReceipt, KeyTaken } from "./receipt-store.ts";

const AUDIO = preparedQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom("stored_audio").selectAll().where("id", "=", id),
);

/** Rolls back an insertion: the user has the maximum number of files. */
class QuotaReached extends CodedError {
  readonly code = "quota_reached";
}

/** Audio files that users have stored for calls. */
export function storedAudioStore(session: Session): AudioStore {
  const insertRecord: (...args: Parameters<AudioStore["insert"]>) => Promise<AudioInsertion> = (
    audio,
    file,
    now,
    { maxFiles, userBytes },
    receipt,
  ) =>
    session.transaction<AudioInsertion>(async (tx) => {
      const { traits } = session;
      const { id, userId, sha256, expiresAt } = audio;
      if (await isDeleted(tx, userId, traits.rowLocks)) return { kind: "user_deleted" };
      await tx
        .updateTable("stored_audio")
        .set({ deleted_at: now })
        .where("user_id", "=", userId)
        .where("sha256", "=", sha256)
        .where(IS_KEPT_AUDIO)
        .where("expires_at", "<=", now)
        .execute();
      const row = { ...RECORDS.stored_audio.row(audio), stored_bytes: 0 };
      row.stored_bytes = rowBytes(row) + file.length + (receipt ? rowBytes(receipt) : 0);
      // Repeated if the file with this content is deleted in between.
      for (;;) {
        const insertedRow = await tx
          .insertInto("stored_audio")
          .values(row)
          .onConflict((conflict) => conflict.columns(["user_id", "sha256"]).where(IS_KEPT_AUDIO).doNothing())
          .returning("id")
          .executeTakeFirst();
        if (insertedRow) break;
        const existingRow = await tx
          .updateTable("stored_audio")
          .set((eb) => ({
            expires_at: eb
              .case()
              .when(eb.or([eb("expires_at", "is", null), eb.lit(expiresAt === null)]))
              .then(null)
              .when("expires_at", "<", expiresAt ?? 0)
              .then(expiresAt)
              .else(eb.ref("expires_at"))
              .end(),
          }))
          .where("user_id", "=", userId)
          .where("sha256", "=", sha256)
          .where(IS_KEPT_AUDIO)
          .returningAll()
          .executeTakeFirst();
        if (existingRow) return { kind: "existing", audio: RECORDS.stored_audio.record(existingRow) };
      }
      if (receipt) await insertReceipt(tx, receipt, id);
      if (!isLarge(session, file)) await insertAudioFile(tx, id, file);
      await charge(tx, [{ owner: userId, bytes: row.stored_bytes, limit: userBytes }]);
      await lockPosition(tx, userId); // the next insertion counts this one
      const files = await countRows(tx, "stored_audio", (rows) =>
        rows.where("user_id", "=", userId).where(IS_KEPT_AUDIO).where(isUnexpired(now)),
      );
      if (files > maxFiles) throw new QuotaReached();
      return { kind: "created" };
    });

  return {
    async insert(audio, file, ...limits) {
      // As with a call: the next start deletes a file without a record.
      const hasLargeFile = isLarge(session, file);
      if (hasLargeFile) await session.files?.put(audio.id, file);
      const insertion = await insertRecord(audio, file, ...limits).catch((error: unknown): AudioInsertion => {
        if (error instanceof KeyTaken) return { kind: "repeated" };
        if (error instanceof OverBudget) return { kind: "over_budget" };
        if (error instanceof QuotaReached) return { kind: "at_limit" };
        throw error;
      });
      if (hasLargeFile && insertion.kind !== "created") removeLater(session, audio.id);
      return insertion;
    },
    async get(id) {
      const [row] = await session.query(AUDIO, { id });
      return row && RECORDS.stored_audio.record(row);
    },
    list: (userId, now, page) =>
      readRecords(session, RECORDS.stored_audio, (db) =>
        pageById(
          db
            .selectFrom("stored_audio")
            .selectAll()
            .where("user_id", "=", userId)
            .where(IS_KEPT_AUDIO)
            .where(isUnexpired(now)),
          page,
        ),
      ),
    async delete(id, at) {
      const { wasDeleted, isFileLeft } = await session.transaction(async (tx) => {
        const marked = await tx
          .updateTable("stored_audio")
          .set({ deleted_at: at })
          .where("id", "=", id)
          .where(IS_KEPT_AUDIO)
          .returning("id")
          .executeTakeFirst();
        return {
          wasDeleted: marked !== undefined,
          isFileLeft: marked && (await removeUnused(session, tx, id)).isFileLeft,
        };
      });
      if (isFileLeft) removeLater(session, id);
      return wasDeleted;
    },
    async purge(now) {
      await inPieces((limit) => session.transaction((tx) => deleteExpired(tx, now, limit)));
      let count = 0;
      for (let after = ""; ; ) {
        const ids = await session.read((db) => deletedIds(db, after));
        for (const id of ids) {
          const { isRemoved, isFileLeft } = await session.transaction((tx) => removeUnused(session, tx, id));
          if (isFileLeft) removeLater(session, id);
          if (isRemoved) count++;
          await setImmediate();
        }
        after = ids.at(-1) ?? "";
        if (ids.length < MAX_PIECE) return count;
      }
    },
  };
}

/** Deletes some of a user's stored audio files, used or not; returns their number. */
export async function forgetStoredAudio(session: Session, userId: string, limit: number): Promise<number> {
  const rows = await session.read((db) =>
    db.selectFrom("stored_audio").select("id").where("user_id", "=", userId).orderBy("id").limit(limit).execute(),
  );
  for (const { id } of rows) {
    const isFileLeft = await session.transaction(async (tx) => {
      const row = await lockRow(tx, id, session.traits);
      return row !== undefined && !(await removeRow(session, tx, row));
    });
    if (isFileLeft) removeLater(session, id);
  }
  return rows.length;
}

/**
 * Locks a stored audio file for a new call or batch, so that it is not removed before the transaction ends. Returns true
 * if it can no longer be used.
 * @param mayBeDeleted true for the call of a batch, whose file stays until the batch has ended
 */
export async function isAudioGone(
  tx: Kysely<Database>,
  id: string,
  { rowLocks }: Pick<Traits, "rowLocks">,
  mayBeDeleted: boolean,
): Promise<boolean> {
  const [row] = await (rowLocks ? LOCK_USED_AUDIO : USED_AUDIO)(tx, { id });
  return !row || (row.deleted_at !== null && !mayBeDeleted);
}

const USED_AUDIO = preparedQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom("stored_audio").select("deleted_at").where("id", "=", id),
);
const LOCK_USED_AUDIO = preparedQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom("stored_audio").select("deleted_at").where("id", "=", id).forShare(),
);

/** A stored audio file that has not expired. */
function isUnexpired(now: number): RawBuilder<boolean> {
  return sql<boolean>`(expires_at is null or expires_at > ${now})`;
}

function isLarge({ files }: Session, file: Uint8Array): boolean {
  return files !== undefined && file.length > MAX_SMALL_FILE_BYTES;
}

/** Deletes some of the files that expired at `now` or earlier; returns their number. */
async function deleteExpired(tx: Kysely<Database>, now: number, limit: number): Promise<number> {
  const expired = tx
    .selectFrom("stored_audio")
    .select("id")
    .where(IS_EXPIRING_AUDIO)
    .where("expires_at", "<=", now)
    .orderBy("expires_at")
    .limit(limit);
  const { numUpdatedRows } = await tx
    .updateTable("stored_audio")
    .set({ deleted_at: now })
    .where("id", "in", expired)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Ids of deleted files, by ascending id. */
async function deletedIds(db: Kysely<Database>, after: string): Promise<string[]> {
  const rows = await db
    .selectFrom("stored_audio")
    .select("id")
    .where(IS_DELETED_AUDIO)
    .where("id", ">", after)
    .orderBy("id")
    .limit(MAX_PIECE)
    .execute();
  return rows.map(({ id }) => id);
}

type AudioRow = Pick<Database["stored_audio"], "id" | "user_id" | "stored_bytes" | "deleted_at">;

/** The record, locked until the transaction ends: no new call or batch can use it. */
function lockRow(tx: Kysely<Database>, id: string, { rowLocks }: Traits): Promise<AudioRow | undefined> {
  return tx
    .selectFrom("stored_audio")
    .select(["id", "user_id", "stored_bytes", "deleted_at"])
    .where("id", "=", id)
    .$if(rowLocks, (query) => query.forUpdate())
    .executeTakeFirst();
}

/** Removes a deleted file, unless a call or batch uses it. */
async function removeUnused(
  session: Session,
  tx: Kysely<Database>,
  id: string,
): Promise<{ readonly isRemoved: boolean; readonly isFileLeft: boolean }> {
  const row = await lockRow(tx, id, session.traits);
  if (!row || row.deleted_at === null || (await isUsed(tx, id))) return { isRemoved: false, isFileLeft: false };
  return { isRemoved: true, isFileLeft: !(await removeRow(session, tx, row)) };
}

/** Removes a record with its file; returns false if a large file is left for {@link removeLater}. */
async function removeRow(session: Session, tx: Kysely<Database>, row: AudioRow): Promise<boolean> {
  const isFileRemoved = await removeAudio(session, tx, row.id);
  await tx.deleteFrom("stored_audio").where("id", "=", row.id).execute();
  await charge(tx, [{ owner: row.user_id, bytes: -row.stored_bytes }]);
  return isFileRemoved;
}

async function isUsed(tx: Kysely<Database>, id: string): Promise<boolean> {
  const call = await tx
    .selectFrom("calls")
    .select("id")
    .where("audio_id", "=", id)
    .where(IS_USING_AUDIO)
    .limit(1)
    .executeTakeFirst();
  if (call) return true;
  const batch = await tx
    .selectFrom("batches")
    .select("id")
    .where("audio_id", "=", id)
    .where(IS_UNENDED_BATCH)
    .limit(1)
    .executeTakeFirst();
  return batch !== undefined;
}
