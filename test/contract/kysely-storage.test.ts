import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { SqliteDialect } from "kysely";
import { describe, expect, test } from "vitest";
import { kyselyStorage } from "../../adapters/storage/kysely-storage.ts";
import { storageContract } from "../../src/testing/storage-contract.ts";
import { storageUnderTest } from "../support/storage-under-test.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Kysely's own dialect over one connection. */
function sqliteDialect(path: string): SqliteDialect {
  const open = () => {
    const database = new DatabaseSync(path);
    return {
      close: () => database.close(),
      prepare(text: string) {
        const statement = database.prepare(text);
        const bound = (values: readonly unknown[]) => values as SQLInputValue[];
        return {
          reader: statement.columns().length > 0,
          all: (values: readonly unknown[]) => statement.all(...bound(values)),
          run: (values: readonly unknown[]) => statement.run(...bound(values)),
          iterate: (values: readonly unknown[]) => statement.iterate(...bound(values)),
        };
      },
    };
  };
  return new SqliteDialect({ database: async () => open() });
}

storageContract(
  "SQLite by a dialect of Kysely",
  () => {
    const path = `${temporaryFolder("kysely")}/ringport.db`;
    const make = () => kyselyStorage(sqliteDialect(path), { sql: "sqlite", name: path });
    return storageUnderTest(make, () => {});
  },
  { describe, test, expect },
);
