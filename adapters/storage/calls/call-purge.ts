import { setImmediate } from "node:timers/promises";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Call, CallStatus } from "../../../src/domain/calls/call.ts";
import type { MentionedNumber } from "../../../src/domain/numbers/mentioned-number.ts";
import type { Page, RemovedCalls } from "../../../src/ports/storage.ts";
import { deletePiece, MAX_PIECE } from "../bounded-deletions.ts";
import { preparedQuery, type Session, type Traits } from "../connected-database.ts";
import { charge, chargesOf } from "../stored-bytes.ts";
import { type CallRow, columnsWith, type Database, type FinishedCountTable, IS_FINAL } from "../tables/all-tables.ts";
import { callOf } from "../tables/stored-fields.ts";
import { keepCounting } from "./insert-call.ts";
import { blankReceipts } from "./receipt-store.ts";

/** Maximum number of calls per transaction; their messages are long. */
const BATCH = 50;

const ADD_TO_COUNT = preparedQuery((db, { instance_id, status, calls }: FinishedCountTable) =>
  db
    .insertInto("finished_counts")
    .values({ instance_id, status, calls })
    .onConflict((conflict) =>
      conflict
        .columns(["instance_id", "status"])
        .doUpdateSet((eb) => ({ calls: eb("finished_counts.calls", "+", calls) })),
    ),
);

/** Ids of final calls that ended before a time (ms), oldest first. */
export async function endedCalls(db: Kysely<Database>, endedBefore: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("calls")
    .select("id")
    .where(IS_FINAL)
    .where("ended_at", "<", endedBefore)
    .orderBy("ended_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/**
 * Deletes final calls with all their records, in pieces. Records go first, each call's newest event first: the
 * remaining events keep their numbers, and a deletion that fails halfway can be repeated. Calls counted after
 * `countedSince` (ms) still count for their token.
 */
export async function removeCallRows(
  session: Session,
  calls: readonly string[],
  countedSince = Infinity,
): Promise<RemovedCalls> {
  const ids: string[] = [];
  let events = 0;
  let transcriptLines = 0;
  let receipts = 0;
  for (let from = 0; from < calls.length; from += BATCH) {
    const batch = calls.slice(from, from + BATCH);
    for (let hasMore = true; hasMore; ) {
      const piece = await session.transaction((tx) => removePiece(tx, batch, countedSince, session.traits));
      events += piece.events;
      transcriptLines += piece.transcriptLines;
      receipts += piece.receipts;
      ids.push(...(piece.ids ?? []));
      hasMore = piece.ids === undefined;
      await setImmediate();
    }
  }
  return { ids, events, transcriptLines, receipts };
}

interface RemovedPiece extends Omit<RemovedCalls, "ids"> {
  /** Ids of the deleted calls; undefined if there may be more records. */
  readonly ids: readonly string[] | undefined;
}

/** Deletes some records of final calls, or the last records together with the calls. */
async function removePiece(
  tx: Kysely<Database>,
  calls: readonly string[],
  countedSince: number,
  traits: Traits,
): Promise<RemovedPiece> {
  const rows = await tx
    .selectFrom("calls")
    .select("id")
    .where("id", "in", calls)
    .where(IS_FINAL)
    .orderBy("id")
    .$if(traits.rowLocks, (query) => query.forUpdate())
    .execute();
  const finalIds = rows.map(({ id }) => id);
  if (finalIds.length === 0) return { ids: [], events: 0, transcriptLines: 0, receipts: 0 };
  const events = await deletePiece(tx, traits, {
    table: "events",
    limit: MAX_PIECE,
    rows: (query) => query.where("call_id", "in", finalIds).orderBy("call_id", "desc").orderBy("position", "desc"),
  });
  const transcriptLines = await deletePiece(tx, traits, {
    table: "transcripts",
    limit: MAX_PIECE - events,
    rows: (query) => query.where("call_id", "in", finalIds).orderBy("call_id").orderBy("position"),
  });
  const parts = await deletePiece(tx, traits, {
    table: "call_audio",
    limit: MAX_PIECE - events - transcriptLines,
    rows: (query) => query.where("call_id", "in", finalIds).orderBy("call_id").orderBy("part"),
  });
  if (events + transcriptLines + parts === MAX_PIECE) return { ids: undefined, events, transcriptLines, receipts: 0 };
  const receipts = await blankReceipts(tx, finalIds);
  const deletedCalls = await tx
    .deleteFrom("calls")
    .where("id", "in", finalIds)
    .returning(["id", "instance_id", "user_id", "status", "token_id", "counted_at", "demo_scope", "stored_bytes"])
    .execute();
  await keepCounting(tx, deletedCalls, countedSince, traits);
  for (const [key, count] of countByInstance(deletedCalls)) {
    const [instanceId, status] = JSON.parse(key) as [string, CallStatus];
    await countFinished(tx, instanceId, status, -count);
  }
  await charge(tx, chargesOf(deletedCalls, -1));
  return { ids: deletedCalls.map(({ id }) => id), events, transcriptLines, receipts };
}

/** Counts calls that became final, or (negative) were deleted. */
export async function countFinished(
  tx: Kysely<Database>,
  instanceId: string,
  status: CallStatus,
  calls: number,
): Promise<void> {
  await ADD_TO_COUNT(tx, { instance_id: instanceId, status, calls });
}

/** Counts calls by instance and status; sorted, so that two transactions lock rows in the same order. */
function countByInstance(rows: readonly { instance_id: string; status: CallStatus }[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const key = JSON.stringify([row.instance_id, row.status]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Maximum number of calls that one step reads, with their events and transcripts. Other work continues between two
 * steps.
 */
const MAX_SEARCHED_CALLS = 100;
const COLUMNS = columnsWith("calls", "call");

/**
 * Calls that mention a number, by ascending id: in a column, an event, or a transcript. No index serves that, so this
 * reads all calls after `after`, piece by piece, until it has found enough. The database finds the digits, so that only
 * the texts that contain them are loaded.
 */
export async function callsNaming(
  session: Session,
  number: MentionedNumber,
  { after = "", limit = Infinity }: Page,
): Promise<Call[]> {
  const calls: Call[] = [];
  for (let cursor = after; ; ) {
    const piece = await session.read((db) =>
      db.selectFrom("calls").select("id").where("id", ">", cursor).orderBy("id").limit(MAX_SEARCHED_CALLS).execute(),
    );
    const last = piece.at(-1);
    if (!last) return calls.slice(0, limit);
    const ids = await session.read((db) =>
      idsMentioning(
        db,
        number,
        piece.map(({ id }) => id),
      ),
    );
    if (ids.size > 0) {
      const rows = await session.read((db) =>
        db
          .selectFrom("calls")
          .selectAll()
          .where("id", "in", [...ids])
          .orderBy("id")
          .execute(),
      );
      calls.push(...rows.map(callOf));
    }
    if (calls.length >= limit || piece.length < MAX_SEARCHED_CALLS) return calls.slice(0, limit);
    cursor = last.id;
    await setImmediate();
  }
}

/** Ids of those calls that mention the number. */
async function idsMentioning(
  db: Kysely<Database>,
  number: MentionedNumber,
  callIds: readonly string[],
): Promise<Set<string>> {
  const containsNumber = (column: RawBuilder<unknown>): RawBuilder<boolean> =>
    sql<boolean>`${column} like ${`%${number.digits}%`}`;
  const calls = await db
    .selectFrom("calls")
    .select(["id", ...COLUMNS])
    .where("id", "in", callIds)
    .where(({ or }) => or(COLUMNS.map((column) => containsNumber(sql.ref(column)))))
    .execute();
  const events = await db
    .selectFrom("events")
    .select(["call_id as id", "data as text"])
    .where("call_id", "in", callIds)
    .where(containsNumber(sql.ref("data")))
    .execute();
  const lines = await db
    .selectFrom("transcripts")
    .select(["call_id as id", "text"])
    .where("call_id", "in", callIds)
    .where(containsNumber(sql.ref("text")))
    .execute();
  const ids = new Set<string>();
  for (const row of calls)
    if (COLUMNS.some((column) => number.isIn(String((row as CallRow)[column] ?? "")))) ids.add(row.id);
  for (const { id, text } of [...events, ...lines]) if (id !== null && number.isIn(text)) ids.add(id);
  return ids;
}
