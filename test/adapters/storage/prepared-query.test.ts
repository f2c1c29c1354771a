import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { expect, test } from "vitest";
import { preparedQuery, valueLists } from "../../../adapters/storage/connected-database.ts";
import type { Database } from "../../../adapters/storage/tables/all-tables.ts";

const CALL = preparedQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom("calls").select("status").where("id", "=", id),
);

test("a prepared read is recognised as a read, so PostgreSQL ends its transaction without a wait", () => {
  const db = new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  for (const id of ["call_1", "call_2"])
    expect(CALL.statement(db, { id })).toMatchObject({ query: { kind: "SelectQueryNode" }, parameters: [id] });
});

test("lists of values have a few fixed lengths, and contain each value once before the padding", () => {
  expect(valueLists([])).toEqual([]);
  expect(valueLists(["a"])).toEqual([["a"]]);
  expect(valueLists(["a", "b", "a", "c"])).toEqual([["a", "b", "c", "c"]]);
  const values = Array.from({ length: 600 }, (_, n) => n);
  const lists = valueLists(values);
  expect(lists.map(({ length }) => length)).toEqual([256, 256, 128]);
  expect([...new Set(lists.flat())]).toEqual(values);
});
