import { type Kysely, sql } from "kysely";
import { type Lease, StorageLocked } from "../../../src/ports/storage.ts";
import type { LockedOpening } from "../connected-database.ts";
import { type Contents, contentsOf, type DatabaseLocation, lockMigrations } from "../migrations/migrate.ts";
import { type Database, WHOLE_DATABASE } from "../tables/all-tables.ts";
import type { Fence } from "./postgres-dialect.ts";
import { leaseLost } from "./postgres-errors.ts";

/** Time to wait for a migration, or for the previous owner's writes, which end when they reach their own limits, ms. */
const LOCK_TIMEOUT_MS = 9_000;

const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** A storage that takes the lease. */
export interface LeaseTaker {
  /** Identifies the storage: if a response was lost, it recognizes its own lease. */
  readonly owner: string;
  readonly ms: number;
}

/**
 * Takes the lease and migrates. The epoch is raised and committed first, which refuses new writes by the previous
 * owner. Pending writes end before anything is read. An opening that fails in between can be repeated.
 * @returns the new epoch
 * @throws {StorageLocked} another server owns the database, or a program migrates it
 */
export async function takeLease(
  { db, migrationDb, isCurrent, migrate }: Omit<LockedOpening, "leaseMs">,
  location: DatabaseLocation,
  taker: LeaseTaker,
): Promise<number> {
  const { raisedEpoch, isUpToDate } = await db.transaction().execute(async (tx) => {
    const contents = await lockContents(tx, location);
    const epoch = hasOwners(contents) ? await raiseEpoch(tx, location, taker) : undefined;
    return { raisedEpoch: epoch, isUpToDate: isCurrent(contents) };
  });
  return (isUpToDate ? db : migrationDb).transaction().execute(async (tx) => {
    const contents = await lockContents(tx, location);
    if (raisedEpoch !== undefined) await drainWrites(tx, location, raisedEpoch);
    else if (!hasOwners(contents)) await refuseOlderServer(tx, location, contents);
    await sql`set local lock_timeout = 0`.execute(tx);
    await migrate(tx);
    if (raisedEpoch === undefined) return raiseEpoch(tx, location, taker);
    await extend(tx, raisedEpoch, taker.ms);
    return raisedEpoch;
  });
}

/** The lease of an epoch. */
export function leaseOf(db: Kysely<Database>, location: DatabaseLocation, epoch: number, ms: number): Lease {
  return {
    epoch,
    ms,
    async renew() {
      if (await extend(db, epoch, ms)) return;
      throw leaseLost(location.name);
    },
  };
}

/** Releases the lease, unless another storage has taken it. */
export async function releaseLease(db: Kysely<Database>, epoch: number): Promise<void> {
  await db
    .updateTable("owners")
    .set({ owner: null, expires_at: NOW })
    .where("name", "=", WHOLE_DATABASE)
    .where("epoch", "=", epoch)
    .execute();
}

/**
 * The first query of every write of an epoch: a lock that a new owner waits for, and that blocks neither other writes
 * nor a renewal.
 */
export function fenceOf(db: Kysely<Database>, epoch: number): NonNullable<Fence["query"]> {
  return sql`select 1 from ${sql.table("owners")}
    where name = ${sql.lit(WHOLE_DATABASE)} and epoch = ${sql.lit(epoch)} for key share`.compile(db).sql;
}

/** Waits for other programs that migrate or take the lease, and blocks them until the transaction ends. */
async function lockContents(tx: Kysely<Database>, location: DatabaseLocation): Promise<Contents> {
  const untypedTx = tx as Kysely<unknown>;
  await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(tx);
  await lockMigrations(untypedTx).catch((cause: unknown) => {
    if ((cause as { code?: unknown }).code !== "55P03") throw cause;
    throw new StorageLocked(`another program is migrating the database ${location.name}`, {
      cause,
      remainingMs: 1_000,
    });
  });
  return contentsOf(untypedTx, location);
}

/** Takes a lease that was released, has expired or already belongs to the taker; does not wait for writes. */
async function raiseEpoch(
  tx: Kysely<Database>,
  { name }: DatabaseLocation,
  { owner, ms }: LeaseTaker,
): Promise<number> {
  const lease = await tx
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
  return lease?.epoch ?? throwLocked(tx, name);
}

/** @throws {StorageLocked} always, with the time until the lease expires */
async function throwLocked(tx: Kysely<Database>, name: string): Promise<never> {
  const { remainingMs } = await tx
    .selectFrom("owners")
    .select(sql<number>`greatest(expires_at - ${NOW}, 0)`.as("remainingMs"))
    .where("name", "=", WHOLE_DATABASE)
    .executeTakeFirstOrThrow();
  const seconds = (remainingMs / 1000).toFixed(1);
  throw new StorageLocked(
    `another server is already using the database ${name} (its lease ends in ${seconds} s unless it is renewed)`,
    { remainingMs },
  );
}

/** Waits until every pending write of an earlier epoch has ended. */
async function drainWrites(tx: Kysely<Database>, { name }: DatabaseLocation, epoch: number): Promise<void> {
  const row = await tx
    .selectFrom("owners")
    .select("owners.name")
    .where("name", "=", WHOLE_DATABASE)
    .where("epoch", "=", epoch)
    .forUpdate()
    .executeTakeFirst();
  if (!row) await throwLocked(tx, name);
}

/** Renews the lease; returns false if its epoch has ended. */
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

/** Servers of versions without leases hold a session lock. No such server starts until this transaction ends. */
async function refuseOlderServer(
  tx: Kysely<Database>,
  { name }: DatabaseLocation,
  { migrations, schema }: Contents,
): Promise<void> {
  if (migrations === undefined) return;
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`ringport server ${schema}`}, 0)) as free`.execute(tx);
  if (rows[0]?.free) return;
  throw new StorageLocked(`a server of an earlier version is using the database ${name}: stop it first`);
}

function hasOwners({ appliedSteps }: Contents): boolean {
  return appliedSteps.includes("0010_owners");
}
