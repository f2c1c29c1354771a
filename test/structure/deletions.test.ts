import { expect, test } from "vitest";
import { BOUNDED_DELETIONS, deletionsOf } from "./deletions.ts";
import { sourceFiles } from "./source-files.ts";

test("every deletion of the storage has a bound", () => {
  const files = sourceFiles().filter(({ path }) => path.startsWith("adapters/storage/"));
  const deletions = new Set(files.flatMap(deletionsOf));
  expect([...deletions].sort()).toEqual([...BOUNDED_DELETIONS.keys()]);
});

test("a deletion is found by its table", () => {
  const text = 'await tx.deleteFrom("calls").execute();\nawait db.deleteFrom(table as "events")';
  expect(deletionsOf({ path: "adapters/storage/x.ts", text })).toEqual(["x.ts calls", "x.ts table"]);
});
