import { type Compilable, CompiledQuery, type DialectAdapter, type Kysely } from "kysely";
import type { Database } from "./schema.ts";

/** Marks the place of a value in a compiled query. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** An SQL statement with its values. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** A query that is compiled once. */
export interface Prepared<Given, Row> {
  /** Runs it in a transaction. */
  (tx: Kysely<Database>, given: Given): Promise<Row[]>;
  statement(db: Kysely<Database>, given: Given): Statement;
}

/**
 * A query that is built and compiled once per database: on a hot path, building one takes longer than running it.
 * @param build makes the query from placeholders, so it must not read the values. It is called again if a run has values
 *   with other names.
 */
export function prepared<Given extends object, Row>(
  build: (db: Kysely<Database>, given: Given) => Compilable<Row>,
): Prepared<Given, Row> {
  const templatesFor = new WeakMap<DialectAdapter, Map<string, CompiledQuery>>();

  function template(db: Kysely<Database>, names: readonly string[]): CompiledQuery {
    const { adapter } = db.getExecutor();
    const templates = templatesFor.get(adapter) ?? new Map<string, CompiledQuery>();
    templatesFor.set(adapter, templates);
    const key = names.join();
    const known = templates.get(key);
    if (known) return known;
    const placeholders = Object.fromEntries(names.map((name) => [name, new Placeholder(name)])) as Given;
    const made = build(db, placeholders).compile();
    templates.set(key, made);
    return made;
  }

  function statement(db: Kysely<Database>, given: Given): Statement {
    const { sql, parameters } = template(db, Object.keys(given));
    const values = parameters.map((value) => (value instanceof Placeholder ? given[value.name as keyof Given] : value));
    return { sql, parameters: values };
  }

  const run = async (tx: Kysely<Database>, given: Given): Promise<Row[]> => {
    const { sql, parameters } = statement(tx, given);
    return (await tx.executeQuery<Row>(CompiledQuery.raw(sql, [...parameters]))).rows;
  };
  return Object.assign(run, { statement });
}
