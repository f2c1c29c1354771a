import { type Kysely, sql } from "kysely";
import { type Lease, StorageLocked } from "../../src/ports/storage.ts";
import { type Contents, contentsOf, lockMigrations, type Place } from "./migrate.ts";
import type { Fence } from "./postgres-dialect.ts";
import { ownershipLost } from "./postgres-errors.ts";
import { type Database, WHOLE_DATABASE } from "./schema.ts";
import type { OwnedOpening } from "./session.ts";

/** How long to wait for a migration, or for writes of the owner before, which PostgreSQL ends by their own limits, ms. */
const PATIENCE_MS = 9_000;

const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** An opening that takes the lease. */
export interface Taker {
  /** Identifies it, so that one whose answer was lost finds itself. */
  readonly owner: string;
  readonly ms: number;
}

/**
 * Takes the lease and migrates. The epoch is raised and committed first, so that no new write of the owner before is let
 * through; the writes that were let through are waited for before anything is read. An opening that fails in between can
 * be repeated.
 * @returns the new epoch
 * @throws {StorageLocked} another server owns the database, or a program migrates it
 */
export async function takeLease(
  { db, migrationDb, isCurrent, migrate }: Omit<OwnedOpening, "leaseMs">,
  place: Place,
  taker: Taker,
): Promise<number> {
  const { raised, current } = await db.transaction().execute(async (tx) => {
    const contents = await lockedContents(tx, place);
    const epoch = hasOwners(contents) ? await raiseEpoch(tx, place, taker) : undefined;
    return { raised: epoch, current: isCurrent(contents) };
  });
  return (current ? db : migrationDb).transaction().execute(async (tx) => {
    const contents = await lockedContents(tx, place);
    if (raised !== undefined) await drainWrites(tx, place, raised);
    else if (!hasOwners(contents)) await refuseOlderServer(tx, place, contents);
    await sql`set local lock_timeout = 0`.execute(tx);
    await migrate(tx);
    if (raised === undefined) return raiseEpoch(tx, place, taker);
    await extend(tx, raised, taker.ms);
    return raised;
  });
}

/** The lease of an epoch that was taken. */
export function leaseOf(db: Kysely<Database>, place: Place, epoch: number, ms: number): Lease {
  return {
    epoch,
    ms,
    async renew() {
      if (await extend(db, epoch, ms)) return;
      throw ownershipLost(place.name);
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

/** Waits for other programs that migrate or take the lease, and keeps them out until the transaction ends. */
async function lockedContents(tx: Kysely<Database>, place: Place): Promise<Contents> {
  const untyped = tx as Kysely<unknown>;
  await sql`set local lock_timeout = ${sql.lit(PATIENCE_MS)}`.execute(tx);
  await lockMigrations(untyped).catch((cause: unknown) => {
    if ((cause as { code?: unknown }).code !== "55P03") throw cause;
    throw new StorageLocked(`another program migrates the database ${place.name}`, { cause, remainingMs: 1_000 });
  });
  return contentsOf(untyped, place);
}

/** Takes a lease that was given back, has run out or is the taker's own; waits for no write. */
async function raiseEpoch(tx: Kysely<Database>, { name }: Place, { owner, ms }: Taker): Promise<number> {
  const taken = await tx
    .insertInto("owners")
    .values({ name: WHOLE_DATABASE, epoch: 1, owner, expires_at: sql<number>`${NOW} + ${ms}` })
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet((eb) => ({
          epoch: eb("owners.epoch", "+", 1),
          owner: eb.ref("excluded.owner"),
          expires_at: eb.ref("excluded.expires_at"),
        }))
        .where(({ eb, or, ref }) =>
          or([
            eb("owners.owner", "is", null),
            eb("owners.owner", "=", ref("excluded.owner")),
            eb("owners.expires_at", "<=", NOW),
          ]),
        ),
    )
    .returning("epoch")
    .executeTakeFirst();
  return taken?.epoch ?? refuse(tx, name);
}

/** @throws {StorageLocked} always, with the time that the owner has left */
async function refuse(tx: Kysely<Database>, name: string): Promise<never> {
  const { remainingMs } = await tx
    .selectFrom("owners")
    .select(sql<number>`greatest(expires_at - ${NOW}, 0)`.as("remainingMs"))
    .where("name", "=", WHOLE_DATABASE)
    .executeTakeFirstOrThrow();
  const seconds = (remainingMs / 1000).toFixed(1);
  throw new StorageLocked(
    `another server already works on the database ${name} (its lease ends in ${seconds} s unless it is renewed)`,
    { remainingMs },
  );
}

/** Waits until every write that was let through in an earlier epoch has ended. */
async function drainWrites(tx: Kysely<Database>, { name }: Place, epoch: number): Promise<void> {
  const row = await tx
    .selectFrom("owners")
    .select("owners.name")
    .where("name", "=", WHOLE_DATABASE)
    .where("epoch", "=", epoch)
    .forUpdate()
    .executeTakeFirst();
  if (!row) await refuse(tx, name);
}

/** Lets the lease last from now on; false if it is not of this epoch any more. */
async function extend(db: Kysely<Database>, epoch: number, ms: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("owners")
    .set({ expires_at: sql<number>`${NOW} + ${ms}` })
    .where("name", "=", WHOLE_DATABASE)
    .where("epoch", "=", epoch)
    .where("owner", "is not", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Servers of before there were leases hold a lock of their session; no new one begins until this transaction ends. */
async function refuseOlderServer(
  tx: Kysely<Database>,
  { name }: Place,
  { migrations, schema }: Contents,
): Promise<void> {
  if (migrations === undefined) return;
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`ringport server ${schema}`}, 0)) as free`.execute(tx);
  if (rows[0]?.free) return;
  throw new StorageLocked(`a server of an earlier version works on the database ${name}: stop it first`);
}

function hasOwners({ applied }: Contents): boolean {
  return applied.includes("0010_owners");
}
