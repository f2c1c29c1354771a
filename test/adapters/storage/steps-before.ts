import { type Dialect, Kysely } from "kysely";
import { Migrator } from "kysely/migration";
import { migrations } from "../../../adapters/storage/migrations/all-migrations.ts";
import type { ColumnTypes } from "../../../adapters/storage/migrations/migrate.ts";

/** Creates the database of an earlier version by running the steps before the named one. The caller destroys it. */
export async function databaseBefore(name: string, dialect: Dialect, types: ColumnTypes): Promise<Kysely<unknown>> {
  const db = new Kysely<unknown>({ dialect });
  const steps = Object.fromEntries(Object.entries(migrations(types)).filter(([step]) => step < name));
  const migrator = new Migrator({ db, provider: { getMigrations: async () => steps } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return db;
}
