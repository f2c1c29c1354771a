import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sqliteStorage } from "../../adapters/storage/sqlite/sqlite-storage.ts";
import { storageContract } from "../../src/testing/storage-contract.ts";
import { storageUnderTest } from "../support/storage-under-test.ts";

const runner = { describe, test, expect };

storageContract(
  "SQLite in a file",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "ringport-storage-"));
    const make = () => sqliteStorage({ path: join(folder, "ringport.db") });
    return storageUnderTest(make, () => rmSync(folder, { recursive: true }));
  },
  runner,
);

storageContract(
  "SQLite in memory",
  () =>
    storageUnderTest(
      () => sqliteStorage({ path: ":memory:" }),
      () => {},
    ),
  runner,
  "a database in memory ends with its connection",
);
