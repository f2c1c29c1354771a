import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector } from "kysely";
import { expect, test } from "vitest";
import { preparedQuery } from "../../../adapters/storage/connected-database.ts";
import { LiteralLimitCompiler } from "../../../adapters/storage/sqlite/sqlite-dialect.ts";
import type { Database } from "../../../adapters/storage/tables/all-tables.ts";

const db = new Kysely<Database>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new LiteralLimitCompiler(),
  },
});

test("a limit is part of the statement; other values are parameters", () => {
  const { sql, parameters } = db.selectFrom("calls").select("id").where("user_id", "=", "ada").limit(7).compile();
  expect(sql).toBe('select "id" from "calls" where "user_id" = ? limit 7');
  expect(parameters).toEqual(["ada"]);
});

test("a limit that differs between a prepared query's runs is a parameter", () => {
  const query = preparedQuery((kysely, { limit }: { readonly limit: number }) =>
    kysely.selectFrom("calls").select("id").limit(limit),
  );
  expect(query.statement(db, { limit: 7 })).toMatchObject({ sql: 'select "id" from "calls" limit ?', parameters: [7] });
});
