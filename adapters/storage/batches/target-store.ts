import type { Kysely } from "kysely";
import { isFinal } from "../../../src/base/state-machine.ts";
import { type BatchTarget, TARGET_TRANSITIONS } from "../../../src/domain/batches/batch.ts";
import { claimsNumber, withDuplicates } from "../../../src/domain/batches/duplicates.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { BatchStore, NewTarget, TargetPatch } from "../../../src/ports/storage.ts";
import { inPieces } from "../bounded-deletions.ts";
import { insertEvents } from "../calls/event-store.ts";
import { preparedQuery, type Session, type Traits } from "../connected-database.ts";
import { type Database, IS_CALLING_TARGET, IS_UNIQUE_TARGET, IS_WAITING_TARGET } from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";

type TargetRow = Database["batch_targets"];
type TargetKey = { readonly batch_id: string; readonly position: number };

const TARGET = preparedQuery((db, { batch_id, position }: TargetKey) =>
  db.selectFrom("batch_targets").selectAll().where("batch_id", "=", batch_id).where("position", "=", position),
);
const DUE_TARGETS = preparedQuery(
  (db, { batch_id, now, limit }: { readonly batch_id: string; readonly now: number; readonly limit: number }) =>
    db
      .selectFrom("batch_targets")
      .selectAll()
      .where("batch_id", "=", batch_id)
      .where(IS_WAITING_TARGET)
      .where("next_attempt_at", "<=", now)
      .orderBy("next_attempt_at")
      .orderBy("position")
      .limit(limit),
);
const NEXT_DUE = preparedQuery((db, { batch_id, now }: { readonly batch_id: string; readonly now: number }) =>
  db
    .selectFrom("batch_targets")
    .select("next_attempt_at")
    .where("batch_id", "=", batch_id)
    .where(IS_WAITING_TARGET)
    .where("next_attempt_at", ">", now)
    .orderBy("next_attempt_at")
    .limit(1),
);
const CALL_TARGET = preparedQuery(
  (
    db,
    {
      batch_id,
      position,
      call_id,
      attempts,
      before,
      updated_at,
    }: TargetKey & { call_id: string; attempts: number; before: number; updated_at: number },
  ) =>
    db
      .updateTable("batch_targets")
      .set((eb) => ({
        ...{ status: "CALLING", call_id, attempts, next_attempt_at: null, updated_at },
        version: eb("version", "+", 1),
      }))
      .where("batch_id", "=", batch_id)
      .where("position", "=", position)
      .where(IS_WAITING_TARGET)
      .where("attempts", "=", before)
      .returning("reason"),
);
const UPDATE_TARGET = preparedQuery(
  (
    db,
    { batch_id, position, expectedVersion, ...columns }: Partial<TargetRow> & TargetKey & { expectedVersion: number },
  ) =>
    db
      .updateTable("batch_targets")
      .set((eb) => ({ ...columns, version: eb("version", "+", 1) }))
      .where("batch_id", "=", batch_id)
      .where("position", "=", position)
      .where("version", "=", expectedVersion)
      .returningAll(),
);
const ADD_TO_COUNT = preparedQuery((db, row: Database["batch_counts"]) =>
  db
    .insertInto("batch_counts")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(["batch_id", "status", "reason"])
        .doUpdateSet((eb) => ({ targets: eb("batch_counts.targets", "+", eb.ref("excluded.targets")) })),
    ),
);

/** Targets per INSERT; both databases limit the parameters of one statement. */
const PIECE = 100;

/** The targets of batches. */
export function targetStore(
  session: Session,
): Omit<BatchStore, "insert" | "get" | "audio" | "list" | "open" | "update" | "delete" | "counts" | "ended"> {
  return {
    addTargets: (id, targets, maxTargets) =>
      session.transaction(async (tx) => {
        const batch = await tx
          .selectFrom("batches")
          .select(["status", "last_position"])
          .where("id", "=", id)
          .$if(session.traits.rowLocks, (query) => query.forUpdate())
          .executeTakeFirst();
        if (batch?.status !== "DRAFT") return "not_draft";
        if (batch.last_position + targets.length > maxTargets) return "at_limit";
        const rows = await withoutRepeats(tx, id, targets);
        const stored = rows.map(
          (target, index): BatchTarget => ({
            ...target,
            batchId: id,
            position: batch.last_position + index + 1,
            attempts: 0,
            callId: null,
            version: 1,
          }),
        );
        for (let from = 0; from < stored.length; from += PIECE)
          await tx
            .insertInto("batch_targets")
            .values(stored.slice(from, from + PIECE).map(RECORDS.batch_targets.row))
            .execute();
        await tx
          .updateTable("batches")
          .set({ last_position: batch.last_position + stored.length })
          .where("id", "=", id)
          .execute();
        await count(tx, id, stored, 1);
        return stored;
      }),
    targets: (id, { status }, { limit, after }) =>
      session.read(async (db) => {
        if (status?.length === 0) return [];
        const rows = await db
          .selectFrom("batch_targets")
          .selectAll()
          .where("batch_id", "=", id)
          .$if(status !== undefined, (query) => query.where("status", "in", status ?? []))
          .$if(after !== undefined, (query) => query.where("position", ">", Number(after)))
          .orderBy("position")
          .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
          .execute();
        return rows.map(RECORDS.batch_targets.record);
      }),
    async target(id, position) {
      const [row] = await session.query(TARGET, { batch_id: id, position });
      return row && RECORDS.batch_targets.record(row);
    },
    updateTarget: (id, position, version, patch, events) =>
      session.transaction(async (tx) => {
        const [before] = await TARGET(tx, { batch_id: id, position });
        if (before?.version !== version) return undefined;
        if (await isTaken(tx, before, patch)) return "taken";
        const columns = RECORDS.batch_targets.changes(patch as Partial<BatchTarget>);
        // A field that is no longer there.
        if (patch.status === "WAITING" && before.status !== "CALLING") columns.faults = null;
        const [row] = await UPDATE_TARGET(tx, { batch_id: id, position, expectedVersion: version, ...columns });
        if (!row) return undefined;
        const target = RECORDS.batch_targets.record(row);
        await recount(tx, id, RECORDS.batch_targets.record(before), target);
        if (target.phoneKey !== before.phone_key || !claimsNumber(target.status))
          await promoteDuplicate(tx, before, target.updatedAt);
        await insertEvents(tx, events);
        return target;
      }),
    removeTarget: (id, position, at) =>
      session.transaction(async (tx) => {
        const [removed] = await tx
          .deleteFrom("batch_targets")
          .where("batch_id", "=", id)
          .where("position", "=", position)
          .where(({ exists, selectFrom }) =>
            exists(
              selectFrom("batches")
                .select("batches.id")
                .where("batches.id", "=", id)
                .where("batches.status", "=", "DRAFT"),
            ),
          )
          .returningAll()
          .execute();
        if (!removed) return false;
        await count(tx, id, [RECORDS.batch_targets.record(removed)], -1);
        await promoteDuplicate(tx, removed, at);
        return true;
      }),
    async due(id, now, limit) {
      const rows = await session.query(DUE_TARGETS, { batch_id: id, now, limit });
      const [next] = rows.length > 0 ? [] : await session.query(NEXT_DUE, { batch_id: id, now });
      return { targets: rows.map(RECORDS.batch_targets.record), nextAt: next?.next_attempt_at ?? undefined };
    },
    postpone: (id, zones, until, at) =>
      inPieces((limit) => session.transaction((tx) => postponeSome(tx, { id, zones, until, at, limit }))),
    calling: (id) =>
      session.read(async (db) => {
        const rows = await db
          .selectFrom("batch_targets")
          .selectAll()
          .where("batch_id", "=", id)
          .where(IS_CALLING_TARGET)
          .orderBy("position")
          .execute();
        return rows.map(RECORDS.batch_targets.record);
      }),
    endWaiting: (id, status, reason, limit, eventOf, at) =>
      session.transaction(async (tx) => {
        const waiting = await tx
          .selectFrom("batch_targets")
          .select(["position", "reason"])
          .where("batch_id", "=", id)
          .where(IS_WAITING_TARGET)
          .orderBy("next_attempt_at")
          .orderBy("position")
          .limit(limit)
          .execute();
        if (waiting.length === 0) return [];
        const reasons = new Map(waiting.map(({ position, reason: lastReason }) => [position, lastReason]));
        const rows = await tx
          .updateTable("batch_targets")
          .set((eb) => ({ status, reason, next_attempt_at: null, updated_at: at, version: eb("version", "+", 1) }))
          .where("batch_id", "=", id)
          .where(
            "position",
            "in",
            waiting.map(({ position }) => position),
          )
          .where(IS_WAITING_TARGET)
          .returningAll()
          .execute();
        const ended = rows.map(RECORDS.batch_targets.record).sort((a, b) => a.position - b.position);
        await addToCounts(tx, [
          ...rows.map(({ position }): Database["batch_counts"] => {
            return { batch_id: id, status: "WAITING", reason: reasons.get(position) ?? "", targets: -1 };
          }),
          { batch_id: id, status, reason, targets: ended.length },
        ]);
        await insertEvents(tx, ended.map(eventOf));
        return ended;
      }),
    forgetNumber: (phoneKey) =>
      inPieces((limit) => session.transaction((tx) => forgetSome(tx, phoneKey, session.traits, limit))),
  };
}

/**
 * Makes the target of a batch's call CALLING, in the transaction that stores the call. True for a call without a batch;
 * false if the batch is not RUNNING, or its target does not wait for this attempt.
 */
export async function callTarget(
  tx: Kysely<Database>,
  { id, batchId, batchPosition, batchAttempt, createdAt }: Call,
  traits: Pick<Traits, "rowLocks">,
): Promise<boolean> {
  if (batchId === undefined || batchPosition === undefined || batchAttempt === undefined) return true;
  // Locked: the batch is not paused or cancelled before this call is stored.
  const batch = await tx
    .selectFrom("batches")
    .select("status")
    .where("id", "=", batchId)
    .$if(traits.rowLocks, (query) => query.forShare())
    .executeTakeFirst();
  if (batch?.status !== "RUNNING") return false;
  const key = { batch_id: batchId, position: batchPosition };
  const attempt = { call_id: id, attempts: batchAttempt, before: batchAttempt - 1, updated_at: createdAt };
  const [called] = await CALL_TARGET(tx, { ...key, ...attempt });
  if (!called) return false;
  await addToCounts(tx, [
    { batch_id: batchId, status: "WAITING", reason: called.reason ?? "", targets: -1 },
    { batch_id: batchId, status: "CALLING", reason: "", targets: 1 },
  ]);
  return true;
}

/** The targets; a valid one whose number is already in the batch, or earlier in the list, is a DUPLICATE. */
async function withoutRepeats(tx: Kysely<Database>, id: string, targets: readonly NewTarget[]): Promise<NewTarget[]> {
  const keys = targets.flatMap(({ phoneKey }) => (phoneKey === null ? [] : [phoneKey]));
  const rowByKey = new Map<string, number>();
  for (let from = 0; from < keys.length; from += PIECE) {
    const found = await tx
      .selectFrom("batch_targets")
      .select(["phone_key", "source_row"])
      .where("batch_id", "=", id)
      .where("phone_key", "in", keys.slice(from, from + PIECE))
      .where(IS_UNIQUE_TARGET)
      .execute();
    for (const { phone_key, source_row } of found) if (phone_key !== null) rowByKey.set(phone_key, source_row);
  }
  return withDuplicates(targets, rowByKey);
}

/** True if another target of the batch has the number that this one is about to have. */
async function isTaken(tx: Kysely<Database>, before: TargetRow, patch: TargetPatch): Promise<boolean> {
  const phoneKey = patch.phoneKey ?? before.phone_key;
  const status = patch.status ?? before.status;
  if (phoneKey === null || !claimsNumber(status)) return false;
  if (before.phone_key === phoneKey && claimsNumber(before.status)) return false;
  const other = await tx
    .selectFrom("batch_targets")
    .select("position")
    .where("batch_id", "=", before.batch_id)
    .where("phone_key", "=", phoneKey)
    .where(IS_UNIQUE_TARGET)
    .where("position", "<>", before.position)
    .executeTakeFirst();
  return other !== undefined;
}

/** Lets the first duplicate of a number be called, in place of a target that no longer has that number. */
async function promoteDuplicate(
  tx: Kysely<Database>,
  { batch_id, phone_key, status, next_attempt_at }: TargetRow,
  updated_at: number,
): Promise<void> {
  if (phone_key === null || !claimsNumber(status)) return;
  const duplicate = await tx
    .selectFrom("batch_targets")
    .selectAll()
    .where("batch_id", "=", batch_id)
    .where("phone_key", "=", phone_key)
    .where("status", "=", "DUPLICATE")
    .orderBy("position")
    .limit(1)
    .executeTakeFirst();
  if (!duplicate) return;
  const [promoted] = await UPDATE_TARGET(tx, {
    ...{ batch_id, position: duplicate.position, expectedVersion: duplicate.version },
    ...{ status: "WAITING", next_attempt_at, faults: null, updated_at },
  });
  const { record } = RECORDS.batch_targets;
  if (promoted) await recount(tx, batch_id, record(duplicate), record(promoted));
}

/** Postpones some targets; returns their number. */
async function postponeSome(
  tx: Kysely<Database>,
  { id, zones, until, at, limit }: { id: string; zones: string; until: number; at: number; limit: number },
): Promise<number> {
  const positions = await tx
    .selectFrom("batch_targets")
    .select("position")
    .where("batch_id", "=", id)
    .where(IS_WAITING_TARGET)
    .where("next_attempt_at", "<", until)
    .where("zones", "=", zones)
    .orderBy("next_attempt_at")
    .orderBy("position")
    .limit(limit)
    .execute();
  if (positions.length === 0) return 0;
  await tx
    .updateTable("batch_targets")
    .set((eb) => ({ next_attempt_at: until, updated_at: at, version: eb("version", "+", 1) }))
    .where("batch_id", "=", id)
    .where(
      "position",
      "in",
      positions.map(({ position }) => position),
    )
    .where(IS_WAITING_TARGET)
    .execute();
  return positions.length;
}

/** Deletes some targets with this number, in every batch; returns their number. */
async function forgetSome(tx: Kysely<Database>, phoneKey: string, traits: Traits, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom("batch_targets")
    .selectAll()
    .where("phone_key", "=", phoneKey)
    .where("status", "<>", "CALLING")
    .limit(limit)
    .$if(traits.rowLocks, (query) => query.forUpdate())
    .execute();
  for (const row of rows) {
    await tx
      .deleteFrom("batch_targets")
      .where("batch_id", "=", row.batch_id)
      .where("position", "=", row.position)
      .execute();
    await count(tx, row.batch_id, [RECORDS.batch_targets.record(row)], -1);
  }
  return rows.length;
}

/** Adds targets to the counts of their batch, or takes them off. */
async function count(tx: Kysely<Database>, id: string, targets: readonly BatchTarget[], sign: 1 | -1): Promise<void> {
  await addToCounts(
    tx,
    targets.map((target) => countOf(id, target, sign)),
  );
}

/** Moves a changed target from one count to another. */
async function recount(tx: Kysely<Database>, id: string, before: BatchTarget, after: BatchTarget): Promise<void> {
  await addToCounts(tx, [countOf(id, before, -1), countOf(id, after, 1)]);
}

function countOf(batch_id: string, { status, reason }: BatchTarget, targets: 1 | -1): Database["batch_counts"] {
  const isByReason = status === "WAITING" || isFinal(TARGET_TRANSITIONS, status);
  return { batch_id, status, reason: isByReason ? (reason ?? "") : "", targets };
}

/** Adds to counts, always in the same order: transactions that lock their rows in different orders deadlock. */
async function addToCounts(tx: Kysely<Database>, changes: readonly Database["batch_counts"][]): Promise<void> {
  const sums = new Map<string, Database["batch_counts"]>();
  for (const change of changes) {
    const key = `${change.batch_id} ${change.status} ${change.reason}`;
    const targets = (sums.get(key)?.targets ?? 0) + change.targets;
    sums.set(key, { ...change, targets });
  }
  for (const [, sum] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (sum.targets !== 0) await ADD_TO_COUNT(tx, sum);
}
