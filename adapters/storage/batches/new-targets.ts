import type { Kysely } from "kysely";
import type { BatchTarget } from "../../../src/domain/batches/batch.ts";
import { type TargetPlace, withDuplicates } from "../../../src/domain/batches/duplicates.ts";
import type { BatchStore, NewTarget } from "../../../src/ports/storage.ts";
import { preparedQuery, type Session, valueLists } from "../connected-database.ts";
import { type Database, IS_UNIQUE_TARGET } from "../tables/all-tables.ts";
import { RECORDS } from "../tables/stored-fields.ts";
import { recount } from "./target-counts.ts";

type TargetRow = Database["batch_targets"];

/** Targets per statement; both databases limit the parameters of one. */
const PIECE = 100;
const COLUMNS = Object.values(RECORDS.batch_targets.columns).map(({ name }) => name);

/**
 * Inserts rows, passed as one flat list of values. Prepared, because building the statement takes longer than running
 * it.
 */
const INSERT_TARGETS = preparedQuery((db, values: readonly unknown[]) => {
  const rows: TargetRow[] = [];
  const placeholders = Object.values(values);
  for (let from = 0; from < placeholders.length; from += COLUMNS.length)
    rows.push(Object.fromEntries(COLUMNS.map((name, index) => [name, placeholders[from + index]])) as never);
  return db.insertInto("batch_targets").values(rows);
});
const KNOWN_NUMBERS = preparedQuery(
  (db, { batch_id, ...keys }: { readonly batch_id: string } & Readonly<Record<number, string>>) =>
    db
      .selectFrom("batch_targets")
      .select(["phone_key", "source_row", "position"])
      .where("batch_id", "=", batch_id)
      .where("phone_key", "in", Object.values(keys))
      .where(IS_UNIQUE_TARGET),
);

/** Adds targets to a draft. */
export function addTargets(session: Session): BatchStore["addTargets"] {
  return (id, targets, maxTargets) =>
    session.transaction(async (tx) => {
      const batch = await tx
        .selectFrom("batches")
        .select(["status", "last_position"])
        .where("id", "=", id)
        .$if(session.traits.rowLocks, (query) => query.forUpdate())
        .executeTakeFirst();
      if (batch?.status !== "DRAFT") return "not_draft";
      if (batch.last_position + targets.length > maxTargets) return "at_limit";
      const rows = await withoutRepeats(tx, id, targets, batch.last_position);
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
      await insertTargets(tx, stored);
      await tx
        .updateTable("batches")
        .set({ last_position: batch.last_position + stored.length })
        .where("id", "=", id)
        .execute();
      await recount(tx, id, [], stored);
      return stored;
    });
}

/** Inserts targets in pieces of only a few different sizes, because each size has its own statement. */
async function insertTargets(tx: Kysely<Database>, targets: readonly BatchTarget[]): Promise<void> {
  for (let from = 0; from < targets.length; ) {
    const remaining = targets.length - from;
    const size = remaining >= PIECE ? PIECE : 2 ** Math.floor(Math.log2(remaining));
    const rows = targets.slice(from, from + size).map(RECORDS.batch_targets.row);
    await INSERT_TARGETS(
      tx,
      rows.flatMap((row) => COLUMNS.map((name) => row[name])),
    );
    from += size;
  }
}

/** The targets; a valid one whose number is already in the batch, or earlier in the list, is a DUPLICATE. */
async function withoutRepeats(
  tx: Kysely<Database>,
  id: string,
  targets: readonly NewTarget[],
  lastPosition: number,
): Promise<NewTarget[]> {
  const keys = targets.flatMap(({ phoneKey }) => (phoneKey === null ? [] : [phoneKey]));
  const placeByKey = new Map<string, TargetPlace>();
  for (const list of valueLists(keys))
    for (const { phone_key, source_row, position } of await KNOWN_NUMBERS(tx, { batch_id: id, ...list }))
      if (phone_key !== null) placeByKey.set(phone_key, { row: source_row, position });
  return withDuplicates(targets, placeByKey, lastPosition);
}
