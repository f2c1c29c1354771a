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
        const asInputValues = (values: readonly unknown[]) => values as SQLInputValue[];
        return {
          reader: statement.columns().length > 0,
          all: (values: readonly unknown[]) => statement.all(...asInputValues(values)),
          run: (values: readonly unknown[]) => statement.run(...asInputValues(values)),
          iterate: (values: readonly unknown[]) => statement.iterate(...asInputValues(values)),
        };
      },
    };
  };
  return new SqliteDialect({ database: async () => open() });
}

storageContract(
  "SQLite through a Kysely dialect",
  () => {
    const path = `${temporaryFolder("kysely")}/ringport.db`;
    const make = () => kyselyStorage(sqliteDialect(path), { sql: "sqlite", name: path });
    return storageUnderTest(make, () => {});
  },
  { describe, test, expect },
);

test("a custom lock is released after the driver has closed", async () => {
  const events: string[] = [];
  const dialect = sqliteDialect(`${temporaryFolder("kysely")}/ringport.db`);
  const { createDriver } = dialect;
  dialect.createDriver = () => {
    const driver = createDriver.call(dialect);
    const { destroy } = driver;
    driver.destroy = async () => {
      await destroy.call(driver);
      events.push("closed");
    };
    return driver;
  };
  const storage = kyselyStorage(dialect, {
    sql: "sqlite",
    name: "ringport.db",
    async lock() {
      events.push("locked");
      return async () => {
        events.push("released");
      };
    },
  });
  await storage.open({ exclusive: true });
  await storage.close();
  expect(events).toEqual(["locked", "closed", "released"]);
});
