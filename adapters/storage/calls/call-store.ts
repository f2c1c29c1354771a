import type { Kysely } from "kysely";
import { type CallStatus, isActive } from "../../../src/domain/calls/call.ts";
import { isNumberRefused, UNANSWERED_REASONS } from "../../../src/domain/calls/outcome.ts";
import { MAX_UNREACHED } from "../../../src/domain/dialling-rules/dial-history.ts";
import type { Event } from "../../../src/domain/events.ts";
import type { CallStore } from "../../../src/ports/storage.ts";
import { inPieces } from "../bounded-deletions.ts";
import { preparedQuery, type Session } from "../connected-database.ts";
import { charge, chargesOf, finalCallBytes } from "../stored-bytes.ts";
import {
  type CallRow,
  type Database,
  IS_DIALLED,
  IS_EXPIRING,
  IS_ON_LINE,
  IS_QUEUED,
  IS_RECORDED,
  IS_UNLIMITED,
  IS_WAITING,
} from "../tables/all-tables.ts";
import { callColumns, callOf } from "../tables/stored-fields.ts";
import { callAudio, removeAudio, removeLater } from "./audio-and-transcripts.ts";
import { callTally, listCalls } from "./call-lists.ts";
import { callsNaming, countFinished, endedCalls, removeCallRows } from "./call-purge.ts";
import { callQueue } from "./call-queue.ts";
import { insertEvents } from "./event-store.ts";
import { forgetCounted, insertCall, keepCounting, quotaSpent } from "./insert-call.ts";

type Move = Partial<CallRow> & { readonly id: string; readonly expectedVersion: number };

const CALL = preparedQuery((db, { id }: { id: string }) => db.selectFrom("calls").selectAll().where("id", "=", id));
const UPDATE_CALL = preparedQuery((db, { id, expectedVersion, ...columns }: Move) =>
  db
    .updateTable("calls")
    .set((eb) => ({ ...columns, version: eb("version", "+", 1) }))
    .where("id", "=", id)
    .where("version", "=", expectedVersion)
    .returningAll(),
);

const SET_BYTES = preparedQuery((db, { id, bytes }: { readonly id: string; readonly bytes: number }) =>
  db.updateTable("calls").set({ stored_bytes: bytes }).where("id", "=", id),
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
        const [row] = await UPDATE_CALL(tx, { id, expectedVersion: version, ...callColumns(patch) });
        if (!row) return undefined;
        if (patch.status !== undefined && !isActive(patch.status)) {
          if (row.type === "FIXED_AUDIO" && row.audio_id === null) isAudioLeft = !(await removeAudio(session, tx, id));
          await countFinished(tx, row.instance_id, patch.status, 1);
        }
        if (!isActive(row.status)) await recount(tx, row, events);
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
    remove: (ids, countedSince) => removeCallRows(session, ids, countedSince),
    forgetCounted: (until) =>
      inPieces((limit) => session.transaction((tx) => forgetCounted(tx, until, session.traits, limit))),
    naming: (number, page) => callsNaming(session, number, page),
    tally: callTally(session),
    counts: () => session.read(countCalls),
    dialHistory: dialHistory(session),
    ...callQueue(session),
    ...waitingCalls(session),
  };
}

/** An instance's dialled calls, newest first. */
function dialHistory(session: Session): CallStore["dialHistory"] {
  return (instanceId, since, limit, until, selection = "all") =>
    session.read(async (db) => {
      const reason = session.traits.jsonText("outcome", "reason");
      const dialledCalls = db
        .selectFrom("calls")
        .select(["id", "dialing_at", "started_at", "ended_at"])
        .where("instance_id", "=", instanceId)
        .where(IS_DIALLED)
        .where("dialing_at", ">", since)
        .$if(until !== undefined, (query) => query.where("dialing_at", "<=", until ?? 0))
        .orderBy("dialing_at", "desc");
      const refusal = session.traits.jsonText("outcome", "refusal");
      const withReasons = dialledCalls.select([reason.as("reason"), refusal.as("refusal")]);
      const newestCalls = withReasons.limit(limit + MAX_UNREACHED);
      const rows =
        selection === "all"
          ? await withReasons.limit(limit).execute()
          : await db
              .selectFrom(newestCalls.as("dialled"))
              .select(["id", "dialing_at", "started_at", "ended_at", "reason", "refusal"])
              .where((eb) => eb.or([eb("started_at", "is not", null), eb("reason", "in", UNANSWERED_REASONS)]))
              .orderBy("dialing_at", "desc")
              .limit(limit)
              .execute();
      return rows.map(({ id, dialing_at, started_at, ended_at, reason: outcome, refusal: scope }) => ({
        callId: id,
        at: dialing_at ?? 0,
        endedAt: ended_at,
        answered: started_at !== null,
        ...(isNumberRefused(outcome, scope) && { refused: true }),
      }));
    });
}

/** Counts the bytes of an ended call, replacing the earlier count. */
async function recount(tx: Kysely<Database>, row: CallRow, events: readonly Event[]): Promise<void> {
  const bytes = await finalCallBytes(tx, row, events);
  await SET_BYTES(tx, { id: row.id, bytes });
  await charge(tx, chargesOf([{ ...row, stored_bytes: bytes - row.stored_bytes }]));
}

/** Counts active calls in their indexes, and adds up the counts of final ones. */
async function countCalls(db: Kysely<Database>): Promise<Partial<Record<CallStatus, number>>> {
  const queuedCount = await db
    .selectFrom("calls")
    .select((eb) => eb.cast<number>(eb.fn.countAll(), "bigint").as("calls"))
    .where(IS_QUEUED)
    .executeTakeFirstOrThrow();
  // Selects "slot", which no index of all calls contains, so that SQLite reads the small index of lines.
  const callsOnLine = await db.selectFrom("calls").select(["status", "slot"]).where(IS_ON_LINE).execute();
  const finishedCounts = await db
    .selectFrom("finished_counts")
    .select((eb) => ["status", eb.cast<number>(eb.fn.sum("calls"), "bigint").as("calls")])
    .groupBy("status")
    .execute();
  const counts = new Map<CallStatus, number>([["QUEUED", queuedCount.calls]]);
  for (const { status } of callsOnLine) if (status !== "QUEUED") counts.set(status, (counts.get(status) ?? 0) + 1);
  for (const { status, calls } of finishedCounts) counts.set(status, calls);
  return Object.fromEntries([...counts].filter(([, calls]) => calls > 0));
}

/** Queries about how long calls have been waiting. */
function waitingCalls(session: Session): Pick<CallStore, "waitingSince" | "oldestWaiting" | "expiring"> {
  return {
    waitingSince: (createdBefore, limit, after, selection = "all") =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("calls")
          .selectAll()
          .where(IS_WAITING)
          .where("created_at", "<", createdBefore)
          .$if(selection === "unlimited", (query) => query.where(IS_UNLIMITED))
          .$if(after !== undefined, (query) =>
            query.where((eb) =>
              eb(eb.refTuple("created_at", "id"), ">", eb.tuple(after?.createdAt ?? 0, after?.id ?? "")),
            ),
          )
          .orderBy("created_at")
          .orderBy("id")
          .limit(limit)
          .execute();
        return rows.map(callOf);
      }),
    oldestWaiting: () =>
      session.read(async (db) => {
        const row = await db
          .selectFrom("calls")
          .select("created_at")
          .where(IS_WAITING)
          .where(IS_UNLIMITED)
          .orderBy("created_at")
          .orderBy("id")
          .limit(1)
          .executeTakeFirst();
        return row?.created_at;
      }),
    expiring: (before, limit, after) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("calls")
          .selectAll()
          .where(IS_EXPIRING)
          .where("expires_at", "<", before)
          .$if(after !== undefined, (query) =>
            query.where((eb) =>
              eb(eb.refTuple("expires_at", "id"), ">", eb.tuple(after?.expiresAt ?? 0, after?.id ?? "")),
            ),
          )
          .orderBy("expires_at")
          .orderBy("id")
          .limit(limit)
          .execute();
        return rows.map(callOf);
      }),
  };
}
