import { type Expression, type Kysely, PostgresAdapter, sql } from "kysely";
import { CodedError } from "../../src/base/error.ts";
import type { Call } from "../../src/domain/calls/call.ts";
import type { Event } from "../../src/domain/events.ts";
import { RECORDED_BYTES_PER_MS } from "../../src/domain/limits.ts";
import type { ByteBudget } from "../../src/ports/storage.ts";
import { preparedQuery } from "./connected-database.ts";
import type { CallRow, Database, InstanceRow } from "./tables/all-tables.ts";

/** Space for one row and its index entries, without its texts and bytes. */
const ROW_BYTES = 256;

/** Bytes of an owner's records that are stored or (negative) deleted. */
export interface Charge {
  /** A user, or the instance of demo tokens. */
  readonly owner: string;
  readonly bytes: number;
  /** Limit of the owner's total, which may be Infinity. Default: unlimited. */
  readonly limit?: number | undefined;
}

/** Columns of an instance that {@link endCounts} needs. */
export type CountedInstance = Pick<InstanceRow, "id" | "user_id" | "stored_bytes">;

type Amount = { readonly owner: string; readonly amount: number; readonly limit: number };

/** Returns no row if the limit is exceeded. */
const ADD_CHARGE = preparedQuery((db, { owner, amount, limit }: Amount) =>
  db
    .insertInto("stored_usage")
    .values({ owner, kind: "bytes", amount })
    .onConflict((conflict) =>
      conflict
        .columns(["owner", "kind"])
        .doUpdateSet((eb) => ({ amount: eb("stored_usage.amount", "+", eb.ref("excluded.amount")) }))
        .where((eb) => eb(eb("stored_usage.amount", "+", eb.ref("excluded.amount")), "<=", limit)),
    )
    .returning("amount"),
);
const STORED_AMOUNT = preparedQuery((db, { owner }: { readonly owner: string }) =>
  db.selectFrom("stored_usage").select("amount").where("owner", "=", owner).where("kind", "=", "bytes"),
);

/** Rolls back a creation: an owner is at its limit. */
export class OverBudget extends CodedError {
  readonly code = "over_budget";
  readonly owner: string;

  constructor(owner: string) {
    super(`the owner ${owner} is at the limit of stored bytes`);
    this.owner = owner;
  }
}

/**
 * Counts bytes for their owners, in a transaction after calls are counted and before {@link insertEvents}: on
 * PostgreSQL it locks the owners' rows, and two transactions that lock in the same order never wait for each other.
 * @throws {OverBudget} one of them would exceed its limit
 */
export async function charge(tx: Kysely<Database>, charges: readonly Charge[]): Promise<void> {
  // Sorted, since this is part of that order.
  const sortedCharges = [...charges].sort((a, b) => (a.owner < b.owner ? -1 : 1));
  for (const { owner, bytes, limit = Infinity } of sortedCharges) {
    if (bytes === 0) continue;
    // PostgreSQL compares whole numbers of 64 bits.
    const maxBytes = Math.min(Math.floor(limit), Number.MAX_SAFE_INTEGER);
    const [row] = bytes > maxBytes ? [] : await ADD_CHARGE(tx, { owner, amount: bytes, limit: maxBytes });
    if (!row) throw new OverBudget(owner);
  }
}

/** Ends the counts of deleted instances and of their demo tokens. Like {@link charge}, it locks rows. */
export async function endCounts(tx: Kysely<Database>, instances: readonly CountedInstance[]): Promise<void> {
  if (instances.length === 0) return;
  const ids = instances.map(({ id }) => id);
  await tx.deleteFrom("stored_usage").where("owner", "in", ids).execute();
  await charge(tx, chargesOf(instances, -1));
}

/** Number of bytes currently counted for an owner. */
export async function storedBytes(db: Kysely<Database>, owner: string): Promise<number> {
  const [row] = await STORED_AMOUNT(db, { owner });
  return Number(row?.amount ?? 0);
}

/** Combines the charges of several records, one for each owner. */
export function chargesOf(
  rows: readonly { readonly user_id: string; readonly demo_scope?: string | null; readonly stored_bytes: number }[],
  sign: 1 | -1 = 1,
): Charge[] {
  const sums = new Map<string, number>();
  for (const { user_id, demo_scope, stored_bytes } of rows)
    for (const owner of demo_scope ? [user_id, demo_scope] : [user_id])
      sums.set(owner, (sums.get(owner) ?? 0) + sign * stored_bytes);
  return [...sums].map(([owner, bytes]) => ({ owner, bytes }));
}

/** Charges of a new call, with the limits of its owners. */
export function newCallCharges({ userId, instanceId, isDemo }: Call, bytes: number, budget?: ByteBudget): Charge[] {
  const charges: Charge[] = [{ owner: userId, bytes, limit: budget?.userBytes }];
  if (isDemo) charges.push({ owner: instanceId, bytes, limit: budget?.demoBytes });
  return charges;
}

/** Bytes of a row: its texts and bytes, plus a fixed amount per row. */
export function rowBytes(row: object): number {
  let bytes = ROW_BYTES;
  for (const value of Object.values(row)) {
    if (typeof value === "string") bytes += utf8Bytes(value);
    else if (value instanceof Uint8Array) bytes += value.length;
  }
  return bytes;
}

/** Bytes of events that are about to be stored. */
export function eventBytes(events: readonly Event[]): number {
  return events.reduce((sum, { data }) => sum + ROW_BYTES + utf8Bytes(JSON.stringify(data)), 0);
}

const EVENT_BYTES = logBytes("events", "data");
const TRANSCRIPT_BYTES = logBytes("transcripts", "text");

/** The bytes of a column in the rows of one call, and the number of these rows. */
function logBytes(table: "events" | "transcripts", column: "data" | "text") {
  return preparedQuery((db, { call_id }: { readonly call_id: string }) =>
    db
      .selectFrom(table)
      .select((eb) => [
        eb.fn.coalesce(eb.fn.sum<number>(byteLength(db, sql.ref(column))), sql<number>`0`).as("bytes"),
        eb.fn.countAll().as("rows"),
      ])
      .where("call_id", "=", call_id),
  );
}

/** Bytes of an ended call, with its events, transcript and recording. */
export async function finalCallBytes(tx: Kysely<Database>, row: CallRow, events: readonly Event[]): Promise<number> {
  const bytesOf = async (query: typeof EVENT_BYTES): Promise<number> => {
    const [log] = await query(tx, { call_id: row.id });
    return Number(log?.bytes) + Number(log?.rows) * ROW_BYTES;
  };
  const log = await bytesOf(EVENT_BYTES);
  const transcript = await bytesOf(TRANSCRIPT_BYTES);
  const recording = (row.recorded_ms ?? 0) * RECORDED_BYTES_PER_MS;
  return rowBytes(row) + log + transcript + eventBytes(events) + recording;
}

/** Length of a text in UTF-8, bytes. */
function byteLength(db: Kysely<Database>, text: Expression<unknown>): Expression<number> {
  if (db.getExecutor().adapter instanceof PostgresAdapter) return sql<number>`octet_length(${text})`;
  return sql<number>`length(cast(${text} as blob))`;
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
