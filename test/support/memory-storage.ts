import { databaseStorage } from "../../adapters/storage/all-stores.ts";
import { connectSqlite, SQLITE_TRAITS } from "../../adapters/storage/sqlite/connect-sqlite.ts";
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

/**
 * A SQLite storage in memory. Its tables are copied from the first one of the process, in a fraction of the time of the migrations.
 */
export function memoryStorage(): Storage {
  return databaseStorage(async () => {
    template ??= migratedTemplate();
    return connectSqlite({ path: ":memory:" }, await template);
  }, SQLITE_TRAITS);
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
