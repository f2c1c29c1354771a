import type { Dialect, QueryResult } from "kysely";
import type { ConnectedDatabase } from "../../../adapters/storage/connected-database.ts";

/** A statement that the database ran. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Number of rows that it returned or changed, once it has run. */
  rows?: number;
}

type Execute = (...args: unknown[]) => Promise<QueryResult<unknown>>;

/** Wraps a connected database, and records every statement. */
export function recordStatements(database: ConnectedDatabase, statements: Statement[]): ConnectedDatabase {
  const dialect: Dialect = {
    createAdapter: () => database.dialect.createAdapter(),
    createIntrospector: (db) => database.dialect.createIntrospector(db),
    createQueryCompiler: () => database.dialect.createQueryCompiler(),
    createDriver() {
      const driver = database.dialect.createDriver();
      const acquire = driver.acquireConnection.bind(driver);
      driver.acquireConnection = async (options) => {
        const connection = await acquire(options);
        return new Proxy(connection, {
          get(target, name) {
            const member: unknown = Reflect.get(target, name, target);
            if (name !== "executeQuery") return typeof member === "function" ? member.bind(target) : member;
            return async (query: Statement, ...args: unknown[]) => {
              const statement: Statement = { sql: query.sql, parameters: query.parameters };
              statements.push(statement);
              const result = await (member as Execute).call(target, query, ...args);
              statement.rows = Number(result.numAffectedRows ?? result.rows.length);
              return result;
            };
          },
        });
      };
      return driver;
    },
  };
  const { read } = database;
  if (!read) return { ...database, dialect };
  return {
    ...database,
    dialect,
    async read<Row>(query: Statement) {
      const statement: Statement = { sql: query.sql, parameters: query.parameters };
      statements.push(statement);
      const rows = await read<Row>(query);
      statement.rows = rows.length;
      return rows;
    },
  };
}
