import { type Kysely, sql } from "kysely";
import type { BatchTarget } from "../../../src/domain/batches/batch.ts";
import { claimsNumber } from "../../../src/domain/batches/duplicates.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { BatchStore, TargetPatch } from "../../../src/ports/storage.ts";
import { inPieces } from "../bounded-deletions.ts";
import { insertEvents } from "../calls/event-store.ts";
import { preparedQuery, type Session, type Traits } from "../connected-database.ts";
import { readRecords } from "../record-lists.ts";
import { type Database, IS_CALLING_TARGET, IS_UNIQUE_TARGET, IS_WAITING_TARGET } from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";
import { addTargets } from "./new-targets.ts";
import { recount } from "./target-counts.ts";

type TargetRow = Database["batch_targets"];
type BatchKey = { readonly id: string };
type TargetKey = { readonly batch_id: string; readonly position: number };

const TARGET = preparedQuery((db, { batch_id, position }: TargetKey) =>
  db.selectFrom("batch_targets").selectAll().where("batch_id", "=", batch_id).where("position", "=", position),
);
type DueKey = { readonly batch_id: string; readonly now: number; readonly limit: number };
const DUE_TARGETS = preparedQuery((db, key: DueKey) => dueTargets(db, key).where("attempts", "=", 0));
/** The retry index holds only rows that meet this condition, word for word. */
const DUE_RETRIES = preparedQuery((db, key: DueKey) => dueTargets(db, key).where(sql<boolean>`attempts > 0`));
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
const STATUS = preparedQuery(batchStatus);
/** Locks the batch, so that it is not paused or cancelled before the transaction ends. */
const LOCKED_STATUS = preparedQuery((db, key: BatchKey) => batchStatus(db, key).forShare());

function batchStatus(db: Kysely<Database>, { id }: BatchKey) {
  return db.selectFrom("batches").select("status").where("id", "=", id);
}

function dueTargets(db: Kysely<Database>, { batch_id, now, limit }: DueKey) {
  return db
    .selectFrom("batch_targets")
    .selectAll()
    .where("batch_id", "=", batch_id)
    .where(IS_WAITING_TARGET)
    .where("next_attempt_at", "<=", now)
    .orderBy("next_attempt_at")
    .orderBy("position")
    .limit(limit);
}

/** The targets of batches. */
export function targetStore(
  session: Session,
): Omit<BatchStore, "insert" | "get" | "audio" | "list" | "open" | "update" | "delete" | "counts" | "ended"> {
  return {
    addTargets: addTargets(session),
    async targets(id, { status }, { limit, after }) {
      if (status?.length === 0) return [];
      return readRecords(session, RECORDS.batch_targets, (db) =>
        db
          .selectFrom("batch_targets")
          .selectAll()
          .where("batch_id", "=", id)
          .$if(status !== undefined, (query) => query.where("status", "in", status ?? []))
          .$if(after !== undefined, (query) => query.where("position", ">", Number(after)))
          .orderBy("position")
          .$if(limit !== undefined, (query) => query.limit(limit ?? 0)),
      );
    },
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
        // A corrected target has no faults, which `columns` cannot express.
        if (patch.status === "WAITING" && before.status !== "CALLING") columns.faults = null;
        const [row] = await UPDATE_TARGET(tx, { batch_id: id, position, expectedVersion: version, ...columns });
        if (!row) return undefined;
        const target = RECORDS.batch_targets.record(row);
        await recount(tx, id, [before], [target]);
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
        await recount(tx, id, [removed], []);
        await promoteDuplicate(tx, removed, at);
        return true;
      }),
    async due(id, now, limit) {
      const key = { batch_id: id, now };
      const retries = await session.query(DUE_RETRIES, { ...key, limit });
      const rest = limit - retries.length;
      const rows = rest > 0 ? [...retries, ...(await session.query(DUE_TARGETS, { ...key, limit: rest }))] : retries;
      const [next] = rows.length > 0 ? [] : await session.query(NEXT_DUE, { batch_id: id, now });
      return { targets: rows.map(RECORDS.batch_targets.record), nextAt: next?.next_attempt_at ?? undefined };
    },
    postpone: (id, zones, until, at) =>
      inPieces((limit) => session.transaction((tx) => postponeSome(tx, { id, zones, until, at, limit }))),
    calling: (id) =>
      readRecords(session, RECORDS.batch_targets, (db) =>
        db
          .selectFrom("batch_targets")
          .selectAll()
          .where("batch_id", "=", id)
          .where(IS_CALLING_TARGET)
          .orderBy("position"),
      ),
    endWaiting: (id, status, reason, limit, eventOf, at) =>
      session.transaction(async (tx) => {
        const waiting = await tx
          .selectFrom("batch_targets")
          .select(["position", "status", "reason"])
          .where("batch_id", "=", id)
          .where(IS_WAITING_TARGET)
          .orderBy("next_attempt_at")
          .orderBy("position")
          .limit(limit)
          .execute();
        if (waiting.length === 0) return [];
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
        const endedPositions = new Set(rows.map(({ position }) => position));
        const before = waiting.filter(({ position }) => endedPositions.has(position));
        await recount(tx, id, before, rows);
        await insertEvents(tx, ended.map(eventOf));
        return ended;
      }),
    forgetNumber: (phoneKey) =>
      inPieces((limit) => session.transaction((tx) => forgetSome(tx, phoneKey, session.traits, limit))),
  };
}

/**
 * Sets the target of a batch's call to CALLING, in the transaction that stores the call. Returns true for a call
 * without a batch; false if the batch is not RUNNING, or its target does not wait for this attempt.
 */
export async function callTarget(
  tx: Kysely<Database>,
  { id, batchId, batchPosition, batchAttempt, createdAt }: Call,
  traits: Pick<Traits, "rowLocks">,
): Promise<boolean> {
  if (batchId === undefined || batchPosition === undefined || batchAttempt === undefined) return true;
  const [batch] = await (traits.rowLocks ? LOCKED_STATUS : STATUS)(tx, { id: batchId });
  if (batch?.status !== "RUNNING") return false;
  const key = { batch_id: batchId, position: batchPosition };
  const attempt = { call_id: id, attempts: batchAttempt, before: batchAttempt - 1, updated_at: createdAt };
  const [called] = await CALL_TARGET(tx, { ...key, ...attempt });
  if (!called) return false;
  await recount(tx, batchId, [{ status: "WAITING", ...called }], [{ status: "CALLING", ...called }]);
  return true;
}

/** True if another target in the batch has the number that this one is about to have. */
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

/** Makes the first duplicate of a number callable, in place of a target that no longer has that number. */
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
  if (promoted) await recount(tx, batch_id, [duplicate], [promoted]);
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
    await recount(tx, row.batch_id, [row], []);
  }
  return rows.length;
}
