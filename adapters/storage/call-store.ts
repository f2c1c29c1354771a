import type { Kysely } from "kysely";
import { type CallStatus, isActive } from "../../src/domain/call.ts";
import type { CallStore } from "../../src/ports/storage.ts";
import { callAudio } from "./audio-reading.ts";
import { removeAudio, removeLater } from "./audio-removal.ts";
import { insertCall } from "./call-creation.ts";
import { callsTo, listCalls } from "./call-list.ts";
import { countFinished, endedCalls, removeCalls } from "./call-purge.ts";
import { callQueue } from "./call-queue.ts";
import { keepCounting, quotaSpent } from "./call-quota.ts";
import { callColumns, callOf } from "./call-row.ts";
import { callTally } from "./call-tally.ts";
import { IS_ACTIVE, IS_RECORDED } from "./conditions.ts";
import { insertEvents } from "./event-insertion.ts";
import { prepared } from "./prepared.ts";
import type { CallTable, Database } from "./schema.ts";
import type { Session } from "./session.ts";

type Move = Partial<CallTable> & { readonly id: string; readonly expected: number };

const CALL = prepared((db, { id }: { id: string }) => db.selectFrom("calls").selectAll().where("id", "=", id));
const MOVED = prepared((db, { id, expected, ...columns }: Move) =>
  db
    .updateTable("calls")
    .set((eb) => ({ ...columns, version: eb("version", "+", 1) }))
    .where("id", "=", id)
    .where("version", "=", expected)
    .returningAll(),
);

/** Calls, from their creation to their purge. */
export function callStore(session: Session): CallStore {
  return {
    insert: insertCall(session),
    countTransfer: (tokenId, at, quota) =>
      session.transaction(async (tx) => {
        const oldestAt = await quotaSpent(tx, tokenId, quota, session.traits.rowLocks);
        if (oldestAt === undefined) {
          const transfer = { token_id: tokenId, counted_at: at };
          await keepCounting(tx, [transfer], quota.since, session.traits);
        }
        return oldestAt;
      }),
    async get(id) {
      const [row] = await session.query(CALL, { id });
      return row && callOf(row);
    },
    list: (userId, filter, page) => session.read((db) => listCalls(db, userId, filter, page)),
    async update(id, version, patch, events) {
      let isAudioLeft = false;
      const call = await session.transaction(async (tx) => {
        const [row] = await MOVED(tx, { id, expected: version, ...callColumns(patch) });
        if (!row) return undefined;
        if (patch.status !== undefined && !isActive(patch.status)) {
          if (row.type === "FIXED_AUDIO") isAudioLeft = !(await removeAudio(session, tx, id));
          await countFinished(tx, row.instance_id, patch.status, 1);
        }
        await insertEvents(tx, events);
        return callOf(row);
      });
      if (call && isAudioLeft) removeLater(session, id);
      return call;
    },
    audio: (id) => callAudio(session, id),
    recorded: (endedBefore, limit) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("calls")
          .selectAll()
          .where(IS_RECORDED)
          .where("ended_at", "<", endedBefore)
          .orderBy("ended_at")
          .orderBy("id")
          .limit(limit)
          .execute();
        return rows.map(callOf);
      }),
    ended: (endedBefore, limit) => session.read((db) => endedCalls(db, endedBefore, limit)),
    remove: (ids, countedSince) => removeCalls(session, ids, countedSince),
    to: (phone, page) => callsTo(session, phone, page),
    tally: callTally(session),
    counts: () => session.read(countCalls),
    ...callQueue(session),
  };
}

/** Counts active calls, and adds up the counts of final ones. */
async function countCalls(db: Kysely<Database>): Promise<Partial<Record<CallStatus, number>>> {
  const rows = await db
    .selectFrom("calls")
    .select((eb) => ["status", eb.cast<number>(eb.fn.countAll(), "bigint").as("calls")])
    .where(IS_ACTIVE)
    .groupBy("status")
    .unionAll(
      db
        .selectFrom("finished_counts")
        .select((eb) => ["status", eb.cast<number>(eb.fn.sum("calls"), "bigint").as("calls")])
        .groupBy("status"),
    )
    .execute();
  return Object.fromEntries(rows.filter((row) => row.calls > 0).map((row) => [row.status, row.calls]));
}
