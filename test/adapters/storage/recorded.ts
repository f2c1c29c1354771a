import type { Dialect } from "kysely";
import type { Engine } from "../../../adapters/storage/session.ts";

/** A statement as the database was asked to run it. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** The engine, noting every statement that goes through it. */
export function recorded(engine: Engine, statements: Statement[]): Engine {
  const dialect: Dialect = {
    createAdapter: () => engine.dialect.createAdapter(),
    createIntrospector: (db) => engine.dialect.createIntrospector(db),
    createQueryCompiler: () => engine.dialect.createQueryCompiler(),
    createDriver() {
      const driver = engine.dialect.createDriver();
      const acquire = driver.acquireConnection.bind(driver);
      driver.acquireConnection = async (options) => {
        const connection = await acquire(options);
        return new Proxy(connection, {
          get(target, name) {
            const member: unknown = Reflect.get(target, name, target);
            if (name !== "executeQuery") return typeof member === "function" ? member.bind(target) : member;
            return (query: Statement, ...rest: unknown[]) => {
              statements.push({ sql: query.sql, parameters: query.parameters });
              return (member as (...all: unknown[]) => unknown).call(target, query, ...rest);
            };
          },
        });
      };
      return driver;
    },
  };
  const { read } = engine;
  if (!read) return { ...engine, dialect };
  return {
    ...engine,
    dialect,
    read(query) {
      statements.push({ sql: query.sql, parameters: query.parameters });
      return read(query);
    },
  };
}
