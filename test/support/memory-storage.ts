import { databaseStorage } from "../../adapters/storage/all-stores.ts";
import type { ConnectedDatabase } from "../../adapters/storage/connected-database.ts";
import { connectSqlite, SQLITE_TRAITS } from "../../adapters/storage/sqlite/connect-sqlite.ts";
import { TransactionalAdapter } from "../../adapters/storage/sqlite/sqlite-dialect.ts";
import type { Storage } from "../../src/ports/storage.ts";

/** Fills an empty database. */
type Fill = NonNullable<Parameters<typeof connectSqlite>[1]>;
type DatabaseSync = Parameters<Fill>[0];

/** Methods that copy all pages of a database, if the runtime has them. */
interface Pages {
  serialize?(): Uint8Array;
  deserialize?(pages: Uint8Array): void;
}

/** Creates the current tables, with the rows that the migrations leave in them. */
let template: Promise<Fill> | undefined;

/** Connections of closed storages, with empty tables. */
const idleConnections: ConnectedDatabase[] = [];

/** Databases with more pages than this (8 MB) are closed instead of being reused. */
const MAX_PAGES = 2_000;

/** Shared, because queries are compiled once per adapter. */
const adapter = new TransactionalAdapter();

/**
 * A SQLite storage in memory. Its tables are copied from the first one of the process, in a fraction of the time of the migrations.
 * A storage that is closed leaves its connection, with prepared statements and without rows, to a later one.
 */
export function memoryStorage(): Storage {
  return databaseStorage(async () => idleConnections.pop() ?? newConnection(), SQLITE_TRAITS);
}

async function newConnection(): Promise<ConnectedDatabase> {
  template ??= migratedTemplate();
  const fill = await template;
  const { promise, resolve } = Promise.withResolvers<DatabaseSync>();
  const connection = await connectSqlite({ path: ":memory:" }, (database) => {
    fill(database);
    resolve(database);
  });
  const database = await promise;
  const reusableConnection: ConnectedDatabase = {
    ...connection,
    dialect: { ...connection.dialect, createAdapter: () => adapter },
    close() {
      if (isReusable(database)) idleConnections.push(reusableConnection);
      else return connection.close?.();
    },
  };
  return reusableConnection;
}

/** Empties the tables; returns false if the database must be closed instead. */
function isReusable(database: DatabaseSync): boolean {
  if (database.isTransaction || Number(database.prepare("pragma page_count").get()?.page_count) > MAX_PAGES)
    return false;
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' and name not like 'ringport_migration%'")
    .all();
  // Without a condition, SQLite empties a table and its indexes without visiting the rows.
  database.exec(`begin; ${tables.map(({ name }) => `delete from "${name}"`).join("; ")}; commit`);
  return true;
}

async function migratedTemplate(): Promise<Fill> {
  const { promise, resolve } = Promise.withResolvers<DatabaseSync>();
  const storage = databaseStorage(() => connectSqlite({ path: ":memory:" }, resolve), SQLITE_TRAITS);
  await storage.open({ exclusive: true });
  const original = await promise;
  const fill = pagesOf(original) ?? rowsOf(original);
  await storage.close();
  return fill;
}

/** Returns a function that copies the pages; undefined if the runtime cannot do this. */
function pagesOf(original: DatabaseSync & Pages): Fill | undefined {
  const pages = original.serialize?.();
  return pages && ((database: DatabaseSync & Pages) => database.deserialize!(pages));
}

/** Creates the tables again, and inserts their rows. */
function rowsOf(original: DatabaseSync): Fill {
  const definitions = original
    .prepare(
      "select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by rowid",
    )
    .all();
  const inserts = definitions
    .filter(({ type }) => type === "table")
    .flatMap(({ name }) =>
      original
        .prepare(`select * from "${name}"`)
        .all()
        .map((row) => [name, row] as const),
    );
  return (database) => {
    database.exec(`begin; ${definitions.map(({ sql }) => sql).join(";")}; commit`);
    for (const [name, row] of inserts) {
      const columns = Object.keys(row).map((column) => `"${column}"`);
      const insert = database.prepare(`insert into "${name}" (${columns}) values (${columns.map(() => "?")})`);
      insert.run(...Object.values(row));
    }
  };
}
