import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { expect, test } from "vitest";
import { preparedQuery } from "../../../adapters/storage/connected-database.ts";
import type { Database } from "../../../adapters/storage/tables/all-tables.ts";

const CALL = preparedQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom("calls").select("status").where("id", "=", id),
);

test("a prepared read is known as a read, whose transaction PostgreSQL ends without a wait", () => {
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
