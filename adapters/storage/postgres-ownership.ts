import { type Kysely, sql } from "kysely";
import { type Lease, OwnershipLost, StorageLocked } from "../../src/ports/storage.ts";
import { type Contents, contentsOf, lockMigrations, type Place } from "./migrate.ts";
import type { Fence } from "./postgres-dialect.ts";
import { type Database, WHOLE_DATABASE } from "./schema.ts";

/** How long to wait for a transaction of the owner before, which PostgreSQL ends by its own limits, and for a migration, ms. */
const PATIENCE_MS = 20_000;

const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Refuses an owner whose lease lasts, before anything waits for locks. */
export async function refuseWhileOwned(db: Kysely<unknown>, place: Place, owner: string): Promise<void> {
  const contents = await contentsOf(db, place);
  if (hasOwners(contents)) refuse(await currentOwner(db as Kysely<Database>, false), place, owner);
}

/**
 * Takes the lease in the transaction that also migrates: nobody else owns the database or migrates it until both are
 * committed. Waits for writes that the owner before has begun.
 * @param owner identifies the opening, so that one whose answer was lost finds itself
 * @returns the new epoch
 * @throws {StorageLocked} another server owns the database
 */
export async function takeLease(
  tx: Kysely<Database>,
  place: Place,
  { owner, ms }: { readonly owner: string; readonly ms: number },
  migrate: (tx: Kysely<Database>) => Promise<void>,
): Promise<number> {
  const untyped = tx as Kysely<unknown>;
  await sql`set local lock_timeout = ${sql.lit(PATIENCE_MS)}`.execute(tx);
  await lockMigrations(untyped);
  const contents = await contentsOf(untyped, place);
  if (hasOwners(contents)) refuse(await currentOwner(tx, true), place, owner);
  else if (contents.migrations !== undefined) await refuseOlderServer(tx, place, contents.schema);
  await sql`set local lock_timeout = 0`.execute(tx);
  await migrate(tx);
  const { epoch } = await tx
    .insertInto("owners")
    .values({ name: WHOLE_DATABASE, epoch: 1, owner, expires_at: sql<number>`${NOW} + ${ms}` })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet((eb) => ({
        epoch: eb("owners.epoch", "+", 1),
        owner: eb.ref("excluded.owner"),
        expires_at: eb.ref("excluded.expires_at"),
      })),
    )
    .returning("epoch")
    .executeTakeFirstOrThrow();
  return epoch;
}

/** The lease of an epoch that was taken. */
export function leaseOf(db: Kysely<Database>, place: Place, epoch: number, ms: number): Lease {
  return {
    epoch,
    ms,
    async renew() {
      const { numUpdatedRows } = await db
        .updateTable("owners")
        .set({ expires_at: sql<number>`${NOW} + ${ms}` })
        .where("name", "=", WHOLE_DATABASE)
        .where("epoch", "=", epoch)
        .where("owner", "is not", null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw new OwnershipLost(`another server has taken over the database ${place.name}`);
    },
  };
}

/** Gives the lease back, unless it is another's already. */
export async function releaseLease(db: Kysely<Database>, epoch: number): Promise<void> {
  await db
    .updateTable("owners")
    .set({ owner: null, expires_at: NOW })
    .where("name", "=", WHOLE_DATABASE)
    .where("epoch", "=", epoch)
    .execute();
}

/**
 * What every write of an epoch begins with: a lock that a taker waits for, and that hinders neither other writes nor a
 * renewal.
 */
export function fenceOf(db: Kysely<Database>, epoch: number): NonNullable<Fence["query"]> {
  return sql`select 1 from ${sql.table("owners")}
    where name = ${sql.lit(WHOLE_DATABASE)} and epoch = ${sql.lit(epoch)} for key share`.compile(db).sql;
}

interface CurrentOwner {
  readonly owner: string | null;
  readonly remaining: number;
}

/** @param locked keeps the row from changing, and from being written under, until the transaction ends */
async function currentOwner(db: Kysely<Database>, locked: boolean): Promise<CurrentOwner | undefined> {
  return db
    .selectFrom("owners")
    .select(["owner", sql<number>`expires_at - ${NOW}`.as("remaining")])
    .where("name", "=", WHOLE_DATABASE)
    .$if(locked, (query) => query.forUpdate())
    .executeTakeFirst();
}

function refuse(current: CurrentOwner | undefined, { name }: Place, owner: string): void {
  if (!current?.owner || current.owner === owner || current.remaining <= 0) return;
  const seconds = (current.remaining / 1000).toFixed(1);
  throw new StorageLocked(
    `another server already works on the database ${name} (its lease ends in ${seconds} s unless it is renewed)`,
    { remainingMs: current.remaining },
  );
}

/** Servers of before there were leases hold a lock of their session; no new one begins until this transaction ends. */
async function refuseOlderServer(tx: Kysely<Database>, { name }: Place, schema: string | undefined): Promise<void> {
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`ringport server ${schema}`}, 0)) as free`.execute(tx);
  if (rows[0]?.free) return;
  throw new StorageLocked(`a server of an earlier version works on the database ${name}: stop it first`);
}

function hasOwners({ applied }: Contents): boolean {
  return applied.includes("0010_owners");
}
