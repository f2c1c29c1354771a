import { type ColumnDataType, type Kysely, PostgresAdapter, type RawBuilder, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { ConfigurationError } from "../../../src/base/error.ts";
import { TABLE_NAMES } from "../tables/all-tables.ts";
import type { TableNames } from "../tables/table-names.ts";

/** A database, and the names of our tables in it. */
export interface DatabaseLocation {
  /** The name of the database in errors, without its password. */
  readonly name: string;
  readonly tables: TableNames;
}

/** Column types with different names in the two databases. */
export interface ColumnTypes {
  /** Text that sorts byte by byte. */
  readonly id: ColumnDataType | RawBuilder<unknown>;
  readonly bytes: ColumnDataType;
}

/** The current contents of the database. */
export interface Contents {
  /** The schema of our tables; undefined if the database has no schemas. */
  readonly schema: string | undefined;
  /** Every table and view in that schema. */
  readonly tables: ReadonlySet<string>;
  /** The table of our migrations; undefined for a new database. */
  readonly migrations: string | undefined;
  /** The migrations that have been applied. */
  readonly appliedSteps: readonly string[];
}

/** The table of our migrations in older versions, without a prefix. The next migration renames it. */
const OLD_TABLE = "kysely_migration";
const FIRST_STEP = "0001_first_tables";

const tableOf = ({ prefix = "" }: TableNames): string => `${prefix}ringport_migration`;

/** Reads the contents; changes nothing. */
export async function contentsOf(db: Kysely<unknown>, { tables: names }: DatabaseLocation): Promise<Contents> {
  const schema = await schemaOf(db, names);
  const tables = new Set(await tablesOf(db, schema));
  const ownTable = tableOf(names);
  if (tables.has(ownTable))
    return { schema, tables, migrations: ownTable, appliedSteps: await stepsIn(db, schema, ownTable) };
  if (!names.prefix && tables.has(OLD_TABLE) && tables.has("finished_counts")) {
    const appliedSteps = await stepsIn(db, schema, OLD_TABLE);
    if (appliedSteps.includes(FIRST_STEP)) return { schema, tables, migrations: OLD_TABLE, appliedSteps };
  }
  return { schema, tables, migrations: undefined, appliedSteps: [] };
}

/** True if the database needs no migration. */
export function isCurrent({ appliedSteps }: Contents, steps: Record<string, Migration>): boolean {
  return appliedSteps.length === Object.keys(steps).length && appliedSteps.every((step) => Object.hasOwn(steps, step));
}

/**
 * Migrates the database to the current tables. Processes that start together wait for each other.
 * @param tx a transaction: a failed migration changes nothing
 * @throws {ConfigurationError} a newer version wrote the database, another program has tables under our names, or a
 * step failed
 */
export async function migrate(
  tx: Kysely<unknown>,
  location: DatabaseLocation,
  steps: Record<string, Migration>,
): Promise<void> {
  await lockMigrations(tx);
  const contents = await contentsOf(tx, location);
  refuseNewer(contents, location, steps);
  if (contents.migrations !== OLD_TABLE && isCurrent(contents, steps)) return;
  refuseForeign(contents, location);
  if (contents.migrations === OLD_TABLE) await renameMigrations(tx, contents, location);
  const migrator = new Migrator({
    db: tx,
    provider: { getMigrations: async () => steps },
    migrationTableName: tableOf(location.tables),
    migrationLockTableName: `${tableOf(location.tables)}_lock`,
    ...(contents.schema !== undefined && { migrationTableSchema: contents.schema }),
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failedStep = results?.find(({ status }) => status === "Error");
  if (!failedStep) throw error;
  throw new ConfigurationError(
    `the database ${location.name} cannot be brought up to date (step ${failedStep.migrationName}: ${(error as Error).message}); ` +
      "it is unchanged: use the version of ringport that wrote it, or choose another database",
    { cause: error },
  );
}

/** Keeps other processes from migrating until the transaction ends. */
export async function lockMigrations(tx: Kysely<unknown>): Promise<void> {
  await tx.getExecutor().adapter.acquireMigrationLock(tx, { lockTable: "", lockRowId: "" });
}

function refuseNewer({ appliedSteps }: Contents, { name }: DatabaseLocation, steps: Record<string, Migration>): void {
  const unknownStep = appliedSteps.find((step) => !Object.hasOwn(steps, step));
  if (unknownStep === undefined) return;
  throw new ConfigurationError(
    `the database ${name} was written by a newer version of ringport (step ${unknownStep}): upgrade ringport`,
  );
}

function refuseForeign(
  { schema, tables, migrations }: Contents,
  { name, tables: { prefix = "" } }: DatabaseLocation,
): void {
  if (migrations !== undefined) return;
  const foreignTables = TABLE_NAMES.map((table) => prefix + table).filter((table) => tables.has(table));
  if (foreignTables.length === 0) return;
  const fix = schema === undefined ? "" : 'a schema of their own ("schema", RINGPORT_DATABASE_SCHEMA) or ';
  throw new ConfigurationError(
    `the database ${name} has tables of another program (${foreignTables.join(", ")}): ` +
      `give the tables of ringport ${fix}a prefix ("prefix", RINGPORT_DATABASE_PREFIX)`,
  );
}

async function renameMigrations(
  tx: Kysely<unknown>,
  { schema }: Contents,
  { tables }: DatabaseLocation,
): Promise<void> {
  const builder = schema === undefined ? tx.schema : tx.schema.withSchema(schema);
  for (const suffix of ["", "_lock"])
    await builder
      .alterTable(OLD_TABLE + suffix)
      .renameTo(tableOf(tables) + suffix)
      .execute();
}

/** The configured schema, the schema with our tables, or the schema for new tables. */
async function schemaOf(db: Kysely<unknown>, { schema, prefix = "" }: TableNames): Promise<string | undefined> {
  if (schema !== undefined || !isPostgres(db)) return schema;
  const { rows } = await sql<{ schema: string | null }>`select coalesce(
    (select nspname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where pg_class.oid = to_regclass(${`${prefix}finished_counts`})),
    current_schema()) as schema`.execute(db);
  return rows[0]?.schema ?? undefined;
}

async function tablesOf(db: Kysely<unknown>, schema: string | undefined): Promise<string[]> {
  const query = isPostgres(db)
    ? sql<{ name: string }>`select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where nspname = ${schema} and relkind in ('r', 'v', 'm', 'p', 'f')`
    : sql<{ name: string }>`select name from sqlite_master where type in ('table', 'view')`;
  return (await query.execute(db)).rows.map(({ name }) => name);
}

async function stepsIn(db: Kysely<unknown>, schema: string | undefined, table: string): Promise<string[]> {
  const id = schema === undefined ? sql.id(table) : sql.id(schema, table);
  return (await sql<{ name: string }>`select name from ${id}`.execute(db)).rows.map(({ name }) => name);
}

function isPostgres(db: Kysely<unknown>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
