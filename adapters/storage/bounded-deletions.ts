import { setImmediate } from "node:timers/promises";
import { type DeleteResult, type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { RetentionStore } from "../../src/ports/storage.ts";
import type { Session, Traits } from "./connected-database.ts";
import { storedBytes } from "./stored-bytes.ts";
import type { Database } from "./tables/all-tables.ts";

/** Maximum number of rows that one transaction deletes, which takes SQLite a few milliseconds. */
export const MAX_PIECE = 250;

/** Rows of a table that a deletion may choose. */
type Rows<Table extends keyof Database> = SelectQueryBuilder<Database, Table, object>;

/** A deletion of some rows of a table. */
export interface Piece<Table extends keyof Database> {
  readonly table: Table;
  readonly limit: number;
  /** Rows that another transaction has locked: the deletion waits for them (default), or skips them. */
  readonly lockedRows?: "wait" | "skip";
  /** Narrows and sorts the rows; an index must serve both. */
  rows(query: Rows<Table>): Rows<Table>;
}

/**
 * Deletes up to `limit` rows of a table; returns how many. Each other deletion has its own bound, which
 * `test/structure/deletions.ts` lists.
 */
export async function deletePiece<Table extends keyof Database>(
  tx: Kysely<Database>,
  { rowLocks }: Pick<Traits, "rowLocks">,
  { table, limit, rows, lockedRows = "wait" }: Piece<Table>,
): Promise<number> {
  const deletion = tx.deleteFrom(table as "events");
  const chosenRows = (row: "rowid" | "ctid::text") =>
    rows(
      tx.selectFrom(table as "events").select(sql<string>`${sql.raw(row)}`.as("row")) as unknown as Rows<Table>,
    ).limit(limit) as SelectQueryBuilder<Database, Table, { row: string }>;
  if (!rowLocks)
    return deletedRows(await deletion.where(sql<boolean>`rowid in (${chosenRows("rowid")})`).executeTakeFirst());
  // Locked first: a row that another transaction changes moves, and a single statement would miss it.
  const selection = chosenRows("ctid::text").forUpdate();
  const rowIds = (await (lockedRows === "skip" ? selection.skipLocked() : selection).execute()) as { row: string }[];
  if (rowIds.length === 0) return 0;
  const isChosen = sql<boolean>`ctid = any(${rowIds.map(({ row }) => row)}::tid[])`;
  return deletedRows(await deletion.where(isChosen).executeTakeFirst());
}

/** The rows of one owner, of which only the newest are kept. */
export interface NewestRows<Table extends keyof Database> extends Pick<Piece<Table>, "table"> {
  readonly maxRows: number;
  /** Narrows the rows to those of the owner; an index on that and `id` must serve it. */
  rows(query: Rows<Table>): Rows<Table>;
}

/**
 * Deletes an owner's rows that are older, by `id`, than its newest `maxRows`: up to {@link MAX_PIECE}, the rest with
 * the next insertions. Call it before an insertion, so that the new row stays, regardless of its id.
 */
export async function deleteOldest<Table extends keyof Database>(
  tx: Kysely<Database>,
  traits: Pick<Traits, "rowLocks">,
  { table, maxRows, rows }: NewestRows<Table>,
): Promise<void> {
  const ownRows = (query: Rows<"events">) => rows(query as unknown as Rows<Table>) as unknown as Rows<"events">;
  const newestToDelete = ownRows(tx.selectFrom(table as "events"))
    .select("id")
    .orderBy("id", "desc")
    .limit(1)
    .offset(maxRows);
  await deletePiece(tx, traits, {
    table: table as "events",
    limit: MAX_PIECE,
    lockedRows: "skip",
    rows: (query) => ownRows(query).where("id", "<=", newestToDelete).orderBy("id"),
  });
}

/**
 * Repeats a deletion until it finds fewer rows than its limit; returns how many rows it deleted. Other work, including
 * other writers' transactions, runs between two pieces.
 */
export async function inPieces(deletion: (limit: number) => Promise<number>): Promise<number> {
  for (let count = 0; ; ) {
    const rows = await deletion(MAX_PIECE);
    count += rows;
    if (rows < MAX_PIECE) return count;
    await setImmediate();
  }
}

/** The number of rows that a DELETE removed. */
export function deletedRows({ numDeletedRows }: DeleteResult): number {
  return Number(numDeletedRows);
}

/** State of the purge clock, scrubbing of deleted records, and stored bytes. */
export function retentionStore(session: Session): RetentionStore {
  return {
    trustedTime: () =>
      session.read(async (db) => {
        const row = await db.selectFrom("trusted_time").selectAll().executeTakeFirst();
        if (!row) return undefined;
        const { at, claimed_at, waited_ms, step_ms, stepped_ago_ms } = row;
        return {
          at,
          claim: claimed_at === null ? null : { at: claimed_at, waitedMs: waited_ms },
          ...(step_ms !== null && { step: { ms: step_ms, waitedMs: stepped_ago_ms ?? 0 } }),
        };
      }),
    async saveTrustedTime({ at, claim, step }) {
      const row = {
        at,
        claimed_at: claim?.at ?? null,
        waited_ms: claim?.waitedMs ?? 0,
        step_ms: step?.ms ?? null,
        stepped_ago_ms: step?.waitedMs ?? null,
      };
      await session.write((db) =>
        db
          .insertInto("trusted_time")
          .values({ id: 1, ...row })
          .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
          .execute(),
      );
    },
    storedBytes: (owner) => session.read((db) => storedBytes(db, owner)),
    scrub: ({ thorough }) => session.scrub(thorough),
  };
}
