import type { Migration } from "kysely/migration";
import { type ColumnTypes, migrations } from "../../../adapters/storage/migrations.ts";

/** The migration steps of an earlier version: those before the named one. */
export function stepsBefore(name: string, types: ColumnTypes): Record<string, Migration> {
  return Object.fromEntries(Object.entries(migrations(types)).filter(([step]) => step < name));
}
