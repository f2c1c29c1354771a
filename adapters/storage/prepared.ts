import { type Compilable, CompiledQuery, type DialectAdapter, type Kysely } from "kysely";
import type { Database } from "./schema.ts";

/** Stands in a compiled query where a value of each run goes. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Answers the rows of one run. */
export type Prepared<Given, Row> = (db: Kysely<Database>, given: Given) => Promise<Row[]>;

/**
 * A query that is built and compiled once per database: on a hot path, building one takes longer than running it.
 * @param build makes the query; it gets a stand-in for each value and therefore must not look at them. It is asked again
 *   when a run gives values of other names.
 */
export function prepared<Given extends object, Row>(
  build: (db: Kysely<Database>, given: Given) => Compilable<Row>,
): Prepared<Given, Row> {
  const compiledFor = new WeakMap<DialectAdapter, Map<string, CompiledQuery>>();

  function compiled(db: Kysely<Database>, names: readonly string[]): CompiledQuery {
    const { adapter } = db.getExecutor();
    const known = compiledFor.get(adapter) ?? new Map<string, CompiledQuery>();
    compiledFor.set(adapter, known);
    const key = names.join();
    const query =
      known.get(key) ??
      build(db, Object.fromEntries(names.map((name) => [name, new Placeholder(name)])) as Given).compile();
    known.set(key, query);
    return query;
  }

  return async (db, given) => {
    const { sql, parameters } = compiled(db, Object.keys(given));
    const values = parameters.map((value) => (value instanceof Placeholder ? given[value.name as keyof Given] : value));
    return (await db.executeQuery<Row>(CompiledQuery.raw(sql, values))).rows;
  };
}
