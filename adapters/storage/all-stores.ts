import { Kysely } from "kysely";
import { DEFAULT_TIMINGS } from "../../src/domain/timings.ts";
import {
  type Lease,
  type OpenOptions,
  type Storage,
  StorageLocked,
  StorageUnavailable,
} from "../../src/ports/storage.ts";
import { accountStore } from "./accounts/account-store.ts";
import { consentStore } from "./accounts/consent-store.ts";
import { loginStore } from "./accounts/login-store.ts";
import { batchStore } from "./batches/batch-store.ts";
import { retentionStore } from "./bounded-deletions.ts";
import { removeOrphanedFiles, transcriptStore } from "./calls/audio-and-transcripts.ts";
import { callStore } from "./calls/call-store.ts";
import { eventStore } from "./calls/event-store.ts";
import { receiptStore } from "./calls/receipt-store.ts";
import { storedAudioStore } from "./calls/stored-audio-store.ts";
import type {
  ConnectedDatabase,
  LockedOpening,
  PreparedQuery,
  ServerLock,
  Session,
  Traits,
} from "./connected-database.ts";
import { instanceStore } from "./instances/instance-store.ts";
import { lineRecordStore, sealedStore } from "./instances/sealed-stores.ts";
import { migrations } from "./migrations/all-migrations.ts";
import { contentsOf, isCurrent, migrate } from "./migrations/migrate.ts";
import { sharedCommits } from "./shared-commits.ts";
import type { Database } from "./tables/all-tables.ts";
import { namedTables } from "./tables/full-table-names.ts";
import { webhookStore } from "./webhooks/webhook-store.ts";

interface OpenDatabase {
  readonly connection: ConnectedDatabase;
  readonly db: Kysely<Database>;
  readonly lock: ServerLock | undefined;
  /** Used for single statements too, which also need the fence. */
  readonly transaction: Session["transaction"];
}

/**
 * A storage over any database that Kysely supports. Opening and closing are idempotent; closing waits for running work.
 * @param connect connects the database; called once per opening
 */
export function databaseStorage(connect: () => Promise<ConnectedDatabase>, traits: Traits): Storage {
  let opening: Promise<OpenDatabase> | undefined;
  let openDatabase: OpenDatabase | undefined;
  let lease: Lease | undefined;
  let closing: Promise<void> = Promise.resolve();
  const runningJobs = new Set<Promise<unknown>>();

  const session: Session = {
    traits,
    get files() {
      return openDatabase?.connection.files;
    },
    async query<Params, Row>(query: PreparedQuery<Params, Row>, params: Params): Promise<Row[]> {
      const { read } = openDatabase?.connection ?? {};
      if (!openDatabase || !read) return guard(({ db }) => query(db, params));
      try {
        return await read<Row>(query.statement(openDatabase.db, params));
      } catch (error) {
        throw translateError(traits, error);
      }
    },
    read: (work) => guard(({ db }) => work(db)),
    write: (work) => guard(({ transaction }) => transaction(work)),
    writeOnce: (query, params) =>
      guard(async ({ db, transaction, lock }) => {
        const epoch = lock?.lease?.epoch;
        if (epoch === undefined) return transaction((tx) => query(tx, params));
        const rows = await query(db, { ...params, epoch });
        if (rows.length === 0) await transaction(async () => {}); // throws if the epoch has ended
        return rows;
      }),
    transaction: (work) => guard(({ transaction }) => transaction(work)),
    scrub: (thorough) => guard(async ({ connection }) => connection.scrub?.(thorough)),
  };

  async function guard<T>(work: (database: OpenDatabase) => Promise<T>): Promise<T> {
    if (!openDatabase) throw new StorageUnavailable("the storage is not open");
    const job = work(openDatabase);
    runningJobs.add(job);
    try {
      return await job;
    } catch (error) {
      throw translateError(traits, error);
    } finally {
      runningJobs.delete(job);
    }
  }

  async function start(options: OpenOptions): Promise<OpenDatabase> {
    await closing;
    try {
      openDatabase = await openWith(await connect(), traits, options);
      lease = openDatabase.lock?.lease && guardLease(openDatabase.lock.lease, guard);
      return openDatabase;
    } catch (error) {
      throw translateError(traits, error);
    }
  }

  return {
    async open(options) {
      opening ??= start(options);
      try {
        await opening;
      } catch (error) {
        opening = undefined;
        throw error;
      }
    },
    close() {
      if (!opening) return closing;
      const openedDatabase = opening;
      opening = undefined;
      closing = openedDatabase.then(
        async (database) => {
          openDatabase = undefined;
          await Promise.allSettled(runningJobs);
          await stop(database);
        },
        () => {}, // the storage never opened
      );
      return closing;
    },
    get lease() {
      return openDatabase && lease;
    },
    get verifyOwner() {
      const verify = openDatabase?.lock?.verify;
      return verify && (async () => verify());
    },
    accounts: accountStore(session),
    logins: loginStore(session),
    instances: instanceStore(session),
    lineRecords: lineRecordStore(session),
    consents: consentStore(session),
    calls: callStore(session),
    batches: batchStore(session),
    audio: storedAudioStore(session),
    events: eventStore(session),
    receipts: receiptStore(session),
    transcripts: transcriptStore(session),
    retention: retentionStore(session),
    webhooks: webhookStore(session),
    sealed: sealedStore(session),
  };
}

type Guard = (work: () => Promise<void>) => Promise<void>;

/** The lease with the port's errors. */
function guardLease({ epoch, ms, renew }: Lease, guard: Guard): Lease {
  return { epoch, ms, renew: () => guard(renew) };
}

async function openWith(connection: ConnectedDatabase, traits: Traits, options: OpenOptions): Promise<OpenDatabase> {
  const plugins = namedTables(connection.tables);
  const db = new Kysely<Database>({ dialect: connection.dialect, plugins });
  const { migrationDialect } = connection;
  const migrationDb = migrationDialect ? new Kysely<Database>({ dialect: migrationDialect, plugins }) : db;
  const steps = migrations(connection.columnTypes);
  const opening: LockedOpening = {
    db,
    migrationDb,
    isCurrent: (contents) => isCurrent(contents, steps),
    migrate: (tx) => migrate(tx as Kysely<unknown>, connection, steps),
    leaseMs: options.leaseMs ?? DEFAULT_TIMINGS.leaseMs,
  };
  let lock: ServerLock | undefined;
  try {
    if (options.exclusive) lock = await connection.lock(opening);
    if (!lock) await migrateUnlessServed(connection, opening, Object.keys(steps));
    if (lock && connection.files) await removeOrphanedFiles(db, connection.files);
    const verify = () => lock?.verify?.();
    const transaction: Session["transaction"] = traits.rowLocks
      ? async (work) => {
          verify();
          return db.transaction().execute(work);
        }
      : sharedCommits(db, verify, connection.commitsDurable);
    return { connection, db, lock, transaction };
  } catch (error) {
    await stop({ connection, db, lock });
    throw error;
  }
}

async function stop({ connection, db, lock }: Pick<OpenDatabase, "connection" | "db" | "lock">): Promise<void> {
  await lock?.release();
  await db.destroy();
  await connection.close?.();
}

/** Migrates an older database for a program that runs next to the server, but only if no server uses it. */
async function migrateUnlessServed(
  connection: ConnectedDatabase,
  opening: LockedOpening,
  steps: readonly string[],
): Promise<void> {
  const contents = await contentsOf(opening.db as Kysely<unknown>, connection);
  if (opening.isCurrent(contents)) return;
  const { appliedSteps } = contents;
  const isOlder = appliedSteps.length > 0 && steps.some((step) => !appliedSteps.includes(step));
  if (!isOlder) return opening.migrationDb.transaction().execute(opening.migrate);
  const lock = await connection.lock(opening).catch((cause: unknown) => {
    if (!(cause instanceof StorageLocked)) throw cause;
    const { remainingMs } = cause;
    throw new StorageLocked(
      `a server of an earlier version is using the database ${connection.name}; restart it with this version first`,
      { cause, ...(remainingMs !== undefined && { remainingMs }) },
    );
  });
  await lock.release();
}

function translateError(traits: Traits, error: unknown): unknown {
  if (error instanceof StorageUnavailable || error instanceof StorageLocked) return error;
  const reason = traits.unavailable(error);
  return reason === undefined ? error : new StorageUnavailable(reason, { cause: error });
}
