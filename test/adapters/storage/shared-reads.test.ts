import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { sharedReads } from "../../../adapters/storage/sqlite/sqlite-dialect.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** The reading connection, and another process's writing connection. */
function connections() {
  const path = join(temporaryFolder("shared-reads"), "db.sqlite");
  const writer = new DatabaseSync(path);
  writer.exec("pragma journal_mode = wal; create table tokens (id integer)");
  const reader = new DatabaseSync(path);
  onTestFinished(() => {
    reads.renew();
    reader.close();
    writer.close();
  });
  const reads = sharedReads(reader);
  const count = reader.prepare("select count(*) as tokens from tokens");
  return { write: () => writer.exec("insert into tokens values (1)"), read: () => reads.within(() => count.get()) };
}

/** Keeps the event loop busy, so that no timer fires. */
function blockFor(ms: number): void {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline);
}

test("a read sees what another process has committed, even if the event loop is late", () => {
  const { write, read } = connections();
  expect(read()).toEqual({ tokens: 0 });
  write();
  blockFor(3);
  expect(read()).toEqual({ tokens: 1 });
});

test("a read after a pause sees other processes' writes", async () => {
  const { write, read } = connections();
  expect(read()).toEqual({ tokens: 0 });
  write();
  await expect.poll(read).toEqual({ tokens: 1 });
});
