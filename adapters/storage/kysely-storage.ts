import { Kysely } from "kysely";
import { type Storage, StorageLocked, StorageUnavailable } from "../../src/ports/storage.ts";
import { accountStore } from "./account-store.ts";
import { removeLeftFiles } from "./audio-removal.ts";
import { callStore } from "./call-store.ts";
import { eventStore } from "./event-store.ts";
import { instanceStore } from "./instance-store.ts";
import { isOlder, migrate, migrations } from "./migrations.ts";
import type { Prepared } from "./prepared.ts";
import { receiptStore } from "./receipt-store.ts";
import { retentionStore } from "./retention-store.ts";
import type { Database } from "./schema.ts";
import type { Engine, ServerLock, Session, Traits } from "./session.ts";
import { sharedCommits } from "./shared-commits.ts";
import { transcriptStore } from "./transcript-store.ts";

interface Opened {
  readonly engine: Engine;
  readonly db: Kysely<Database>;
  readonly write: Session["write"];
  readonly transaction: Session["transaction"];
  readonly lock: ServerLock | undefined;
}

/**
 * The storage over any database that Kysely speaks to. Opening and closing twice is fine; closing waits for what runs.
 * @param connect makes the engine; called once per opening
 */
export function kyselyStorage(connect: () => Promise<Engine>, traits: Traits): Storage {
  let opening: Promise<Opened> | undefined;
  let opened: Opened | undefined;
  let closing: Promise<void> = Promise.resolve();
  const running = new Set<Promise<unknown>>();

  const session: Session = {
    traits,
    get files() {
      return opened?.engine.files;
    },
    async ask<Given, Row>(query: Prepared<Given, Row>, given: Given): Promise<Row[]> {
      const { read } = opened?.engine ?? {};
      if (!opened || !read) return guarded(({ db }) => query(db, given));
      opened.lock?.assertHeld();
      try {
        return await read<Row>(query.statement(opened.db, given));
      } catch (error) {
        throw translated(traits, error);
      }
    },
    read: (work) => guarded(({ db }) => work(db)),
    write: (work) => guarded(({ write }) => write(work)),
    transaction: (work) => guarded(({ transaction }) => transaction(work)),
    scrub: (thorough) => guarded(async ({ engine }) => engine.scrub?.(thorough)),
  };

  async function guarded<T>(work: (database: Opened) => Promise<T>): Promise<T> {
    if (!opened) throw new StorageUnavailable("the storage is not open");
    opened.lock?.assertHeld();
    const job = work(opened);
    running.add(job);
    try {
      return await job;
    } catch (error) {
      throw translated(traits, error);
    } finally {
      running.delete(job);
    }
  }

  async function start(exclusive: boolean): Promise<Opened> {
    await closing;
    try {
      opened = await openWith(await connect(), traits, exclusive);
      return opened;
    } catch (error) {
      throw translated(traits, error);
    }
  }

  return {
    async open({ exclusive }) {
      opening ??= start(exclusive);
      try {
        await opening;
      } catch (error) {
        opening = undefined;
        throw error;
      }
    },
    close() {
      if (!opening) return closing;
      const ending = opening;
      opening = undefined;
      closing = ending.then(
        async (was) => {
          opened = undefined;
          await Promise.allSettled(running);
          await stop(was);
        },
        () => {}, // it never opened
      );
      return closing;
    },
    accounts: accountStore(session),
    instances: instanceStore(session),
    calls: callStore(session),
    events: eventStore(session),
    receipts: receiptStore(session),
    transcripts: transcriptStore(session),
    retention: retentionStore(session),
  };
}

async function openWith(engine: Engine, traits: Traits, exclusive: boolean): Promise<Opened> {
  const db = new Kysely<Database>({ dialect: engine.dialect });
  let lock: ServerLock | undefined;
  try {
    if (exclusive) lock = await engine.lock();
    if (exclusive || !(await isOlder(db as Kysely<unknown>, migrations(engine.columnTypes))))
      await migrateWith(engine, db);
    else await migrateBesideServers(engine, db);
    if (exclusive && engine.files) await removeLeftFiles(db, engine.files);
    return { engine, db, lock, ...writing(db, traits) };
  } catch (error) {
    await stop({ engine, db, lock });
    throw error;
  }
}

function writing(db: Kysely<Database>, traits: Traits): Pick<Opened, "write" | "transaction"> {
  if (traits.rowLocks) return { write: (work) => work(db), transaction: (work) => db.transaction().execute(work) };
  const share = sharedCommits(db);
  return { write: share, transaction: share };
}

async function stop({ engine, db, lock }: Pick<Opened, "engine" | "db" | "lock">): Promise<void> {
  await db.destroy();
  engine.close?.();
  await lock?.release();
}

async function migrateWith(engine: Engine, db: Kysely<Database>): Promise<void> {
  const steps = migrations(engine.columnTypes);
  if (!engine.migrationDialect) return migrate(db as Kysely<unknown>, steps, engine.name);
  const patient = new Kysely<unknown>({ dialect: engine.migrationDialect });
  try {
    await migrate(patient, steps, engine.name);
  } finally {
    await patient.destroy();
  }
}

/** A program beside the server brings the database up to date only if no server of an earlier version works on it. */
async function migrateBesideServers(engine: Engine, db: Kysely<Database>): Promise<void> {
  let lock: ServerLock;
  try {
    lock = await engine.lock();
  } catch (cause) {
    if (!(cause instanceof StorageLocked)) throw cause;
    throw new StorageLocked(
      `a server of an earlier version works on the database ${engine.name}; restart it with this version first`,
      { cause },
    );
  }
  try {
    await migrateWith(engine, db);
  } finally {
    await lock.release();
  }
}

function translated(traits: Traits, error: unknown): unknown {
  if (error instanceof StorageUnavailable || error instanceof StorageLocked) return error;
  const sentence = traits.unavailable(error);
  return sentence === undefined ? error : new StorageUnavailable(sentence, { cause: error });
}
