import { type CreateTableBuilder, type Kysely, sql } from "kysely";

interface IndexKind {
  readonly unique?: boolean;
}

/** Creates an index of the rows that meet a condition, SQL without parameters. */
export async function partialIndex(
  db: Kysely<unknown>,
  name: string,
  table: string,
  columns: string[],
  condition: string,
  { unique = false }: IndexKind = {},
): Promise<void> {
  const index = db.schema.createIndex(name).on(table).columns(columns).where(sql.raw<boolean>(condition));
  await (unique ? index.unique() : index).execute();
}

/** A table that is recreated because its primary key changes. */
interface RecreatedTable {
  readonly table: string;
  /** The temporary table for its rows; `named-tables.ts` lists it. */
  readonly aside: string;
  /** Columns of the new table to fill, SQL. */
  readonly columns: string;
  /** Their values, SQL on the old columns. */
  readonly values: string;
}

/** Recreates a table with its rows, without its indexes. */
export async function recreateTable(
  db: Kysely<unknown>,
  { table, aside, columns, values }: RecreatedTable,
  shape: (table: CreateTableBuilder<string>) => CreateTableBuilder<string>,
): Promise<void> {
  const { schema } = db;
  await sql`create table ${sql.table(aside)} as select * from ${sql.table(table)}`.execute(db);
  await schema.dropTable(table).execute();
  await shape(schema.createTable(table)).execute();
  await sql`insert into ${sql.table(table)} (${sql.raw(columns)})
    select ${sql.raw(values)} from ${sql.table(aside)}`.execute(db);
  await schema.dropTable(aside).execute();
}
