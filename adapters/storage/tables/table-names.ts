import { ConfigurationError } from "../../../src/base/error.ts";

/** The names of the tables in a database that other programs also use. */
export interface TableNames {
  /** The schema of the tables, created if it is missing. Default: the first schema of the search path. */
  readonly schema?: string | undefined;
  /** The prefix of tables and indexes, such as `ringport_`. Default: nothing. */
  readonly prefix?: string | undefined;
}

/** PostgreSQL cuts names at 63 bytes: a prefix of 30 leaves 33 for the name. */
export const TABLE_PREFIX: RegExp = /^[a-z_][a-z0-9_]{0,29}$/;
export const SCHEMA_NAME: RegExp = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * Checks the names, and returns them.
 * @throws {ConfigurationError} a schema or prefix is too long, or has other characters
 */
export function checkNames({ schema, prefix }: TableNames): TableNames {
  if (schema !== undefined && !SCHEMA_NAME.test(schema))
    throw new ConfigurationError(
      `schema is ${JSON.stringify(schema)}: use up to 63 characters of a-z, 0-9 and _, and no digit first`,
    );
  if (prefix !== undefined && !TABLE_PREFIX.test(prefix))
    throw new ConfigurationError(
      `prefix is ${JSON.stringify(prefix)}: use up to 30 characters of a-z, 0-9 and _, and no digit first`,
    );
  return { schema, prefix };
}
