import { DatabaseSync } from "node:sqlite";
import pg from "pg";

/** All rows of a server's database by table, in a stable order. */
export type Rows = Readonly<Record<string, readonly Row[]>>;
export type Row = Readonly<Record<string, string | number | null>>;

/** Location of a server's rows. */
export type DatabaseLocation = { readonly file: string } | { readonly url: string };

/** Reads all records while the server is running, except its lease and the last use of tokens. */
export async function readRows(database: DatabaseLocation): Promise<Rows> {
  return "file" in database ? sqliteRows(database.file) : postgresRows(database.url);
}

/** Number of rows of each table. */
export function countRows(rows: Rows): Record<string, number> {
  return Object.fromEntries(Object.entries(rows).map(([table, rows]) => [table, rows.length]));
}

function sqliteRows(file: string): Rows {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    database.exec("pragma busy_timeout = 2000");
    database.exec("begin"); // one snapshot for all tables
    const tables = database.prepare("select name from sqlite_master where type = 'table' and name <> 'owners'").all();
    return Object.fromEntries(
      tables.map(({ name }) => [String(name), sortRows(database.prepare(`select * from "${name}"`).all())]),
    );
  } finally {
    database.close();
  }
}

async function postgresRows(url: string): Promise<Rows> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("begin isolation level repeatable read read only");
    const { rows } = await client.query(
      "select tablename from pg_tables where schemaname = current_schema() and tablename <> 'owners'",
    );
    const tables: [string, Row[]][] = [];
    for (const { tablename } of rows)
      tables.push([tablename, sortRows((await client.query(`select * from "${tablename}"`)).rows)]);
    return Object.fromEntries(tables);
  } finally {
    await client.end();
  }
}

function sortRows(rows: readonly Record<string, unknown>[]): Row[] {
  const plainRows = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).flatMap(([name, value]) => (name === "last_used_at" ? [] : [[name, comparableValue(value)]])),
    ),
  );
  return plainRows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

const comparableValue = (value: unknown): string | number | null =>
  value instanceof Uint8Array
    ? Buffer.from(value).toString("hex")
    : typeof value === "number" || typeof value === "string" || value === null
      ? value
      : String(value);
