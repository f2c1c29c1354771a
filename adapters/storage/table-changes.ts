import { type CreateTableBuilder, type Kysely, sql } from "kysely";

interface IndexKind {
  readonly unique?: boolean;
}

/** An index of the rows that a condition holds for; the condition is SQL without parameters. */
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

/** A table that is made anew, because its primary key changes. */
interface RemadeTable {
  readonly table: string;
  /** The table that holds the rows meanwhile; `named-tables.ts` knows it. */
  readonly aside: string;
  /** Columns of the new table that are filled, SQL. */
  readonly columns: string;
  /** What they are filled with, SQL on the old columns. */
  readonly values: string;
}

/** Makes a table anew, without its indexes, and keeps its rows. */
export async function remadeTable(
  db: Kysely<unknown>,
  { table, aside, columns, values }: RemadeTable,
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
