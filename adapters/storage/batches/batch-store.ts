import { setImmediate } from "node:timers/promises";
import type { Kysely } from "kysely";
import type { BatchCounts, TargetStatus } from "../../../src/domain/batches/batch.ts";
import type { BatchStore } from "../../../src/ports/storage.ts";
import { isDeleted } from "../accounts/consent-store.ts";
import { deletePiece, MAX_PIECE } from "../bounded-deletions.ts";
import { batchAudio, insertAudioFile } from "../calls/audio-and-transcripts.ts";
import { insertEvents, lockPosition } from "../calls/event-store.ts";
import { insertReceipt, KeyTaken } from "../calls/receipt-store.ts";
import { isAudioGone } from "../calls/stored-audio-store.ts";
import { preparedQuery, type Session } from "../connected-database.ts";
import { countRows, pageById, readRecords } from "../record-lists.ts";
import { MAX_SMALL_FILE_BYTES } from "../sqlite/audio-files.ts";
import { type Database, IS_ENDED_BATCH, IS_OPEN_BATCH, IS_UNFINISHED_COUNT } from "../tables/all-tables.ts";
import { batchRow, RECORDS } from "../tables/stored-fields.ts";
import { targetStore } from "./target-store.ts";

const BATCH = preparedQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom("batches").selectAll().where("id", "=", id),
);

/** Batches of calls, from their draft to their deletion. */
export function batchStore(session: Session): BatchStore {
  return {
    ...targetStore(session),
    async insert(batch, audio, maxBatches, receipt) {
      const { files } = session;
      const isLarge = files !== undefined && audio !== undefined && audio.length > MAX_SMALL_FILE_BYTES;
      // As with a call: the next start deletes a file without a batch.
      if (isLarge) await files.put(batch.id, audio);
      return session
        .transaction(async (tx) => {
          if (await isDeleted(tx, batch.userId, session.traits.rowLocks)) return "user_deleted";
          const row = batchRow(batch);
          if (row.audio_id !== null && (await isAudioGone(tx, row.audio_id, session.traits, false)))
            return "audio_gone";
          await lockPosition(tx, batch.userId); // the next insertion counts this one
          if ((await countRows(tx, "batches", (rows) => rows.where("user_id", "=", batch.userId))) >= maxBatches)
            return "at_limit";
          if (receipt) await insertReceipt(tx, receipt, batch.id);
          await tx.insertInto("batches").values(row).execute();
          if (audio && !isLarge) await insertAudioFile(tx, batch.id, audio);
          return "created";
        })
        .catch((error: unknown) => {
          if (error instanceof KeyTaken) return "repeated";
          throw error;
        });
    },
    async get(id) {
      const [row] = await session.query(BATCH, { id });
      return row && RECORDS.batches.record(row);
    },
    audio: (id) => batchAudio(session, id),
    list: (userId, { status }, page) =>
      readRecords(session, RECORDS.batches, (db) => {
        const batches = db.selectFrom("batches").selectAll().where("user_id", "=", userId);
        return pageById(status === undefined ? batches : batches.where("status", "=", status), page);
      }),
    open: () =>
      session.read(async (db) => {
        const open = await db.selectFrom("batches").selectAll().where(IS_OPEN_BATCH).orderBy("id").execute();
        const finishing = await db
          .selectFrom("batches")
          .selectAll()
          .where(IS_ENDED_BATCH)
          .where("id", "in", db.selectFrom("batch_counts").select("batch_id").where(IS_UNFINISHED_COUNT))
          .execute();
        return [...open, ...finishing].map(RECORDS.batches.record).sort((a, b) => (a.id < b.id ? -1 : 1));
      }),
    async update(id, version, patch, events) {
      const hasEnded = patch.status === "COMPLETED" || patch.status === "CANCELLED";
      const updated = await session.transaction(async (tx) => {
        const columns = RECORDS.batches.changes(patch);
        const row = await tx
          .updateTable("batches")
          .set((eb) => ({ ...columns, version: eb("version", "+", 1) }))
          .where("id", "=", id)
          .where("version", "=", version)
          .returningAll()
          .executeTakeFirst();
        if (!row) return undefined;
        await insertEvents(tx, events);
        return RECORDS.batches.record(row);
      });
      if (updated && hasEnded && updated.message.type === "FIXED_AUDIO") await removeBatchAudio(session, id);
      return updated;
    },
    async delete(id) {
      for (;;) {
        const result = await session.transaction((tx) => deleteSome(tx, id, session));
        if (result !== "more") {
          if (result === "deleted") await removeBatchAudio(session, id);
          return result === "deleted";
        }
        await setImmediate();
      }
    },
    counts: (id) =>
      session.read(async (db) =>
        countsOf(await db.selectFrom("batch_counts").selectAll().where("batch_id", "=", id).execute()),
      ),
    ended: (endedBefore, limit) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("batches")
          .select("id")
          .where(IS_ENDED_BATCH)
          .where("ended_at", "<", endedBefore)
          .orderBy("ended_at")
          .orderBy("id")
          .limit(limit)
          .execute();
        return rows.map(({ id }) => id);
      }),
  };
}

/** A batch's counts; the most frequent reason first. */
function countsOf(rows: readonly Database["batch_counts"][]): BatchCounts {
  const byStatus: Partial<Record<TargetStatus, number>> = {};
  for (const { status, targets } of rows)
    if (Number(targets) > 0) byStatus[status] = (byStatus[status] ?? 0) + Number(targets);
  const counts = rows
    .filter(({ reason, targets }) => reason !== "" && Number(targets) > 0)
    .map(({ status, reason, targets }) => ({ status, reason, targets: Number(targets) }))
    .sort((a, b) => b.targets - a.targets || (a.reason < b.reason ? -1 : 1));
  return {
    byStatus,
    byReason: counts.filter(({ status }) => status !== "WAITING"),
    waitingAfter: counts.filter(({ status }) => status === "WAITING").map(({ status: _, ...count }) => count),
  };
}

/** Deletes some of the targets of a batch that is not open, or the last ones together with the batch. */
async function deleteSome(
  tx: Kysely<Database>,
  id: string,
  { traits }: Session,
): Promise<"deleted" | "more" | "refused"> {
  const batch = await tx
    .selectFrom("batches")
    .select("status")
    .where("id", "=", id)
    .$if(traits.rowLocks, (query) => query.forUpdate())
    .executeTakeFirst();
  if (!batch || batch.status === "SCHEDULED" || batch.status === "RUNNING" || batch.status === "PAUSED")
    return "refused";
  const targets = await deletePiece(tx, traits, {
    table: "batch_targets",
    limit: MAX_PIECE,
    rows: (query) => query.where("batch_id", "=", id).orderBy("position"),
  });
  if (targets === MAX_PIECE) return "more";
  await tx.deleteFrom("batch_counts").where("batch_id", "=", id).execute();
  await tx.deleteFrom("batches").where("id", "=", id).execute();
  return "deleted";
}

/** Deletes a batch's audio file. If that fails, the next start deletes it. */
async function removeBatchAudio(session: Session, id: string): Promise<void> {
  if (session.files) await session.files.remove(id).catch(() => {});
  else await session.write((db) => db.deleteFrom("call_audio").where("call_id", "=", id).execute());
}
