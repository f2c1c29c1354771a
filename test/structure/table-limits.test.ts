import { expect, test } from "vitest";
import { readText, sourceFiles } from "./source-files.ts";
import { ENDINGS, insertionsOf, TABLE_LIMITS, type TableLimit } from "./table-limits.ts";

const TABLES: [table: string, limit: TableLimit][] = Object.entries(TABLE_LIMITS);
const files = sourceFiles();
const containsName = (name: string, text: string): boolean => new RegExp(`(?<![\\w#])${name}\\b`).test(text);

test("the storage only inserts into tables with a known limit", () => {
  const storage = files.filter(({ path }) => path.startsWith("adapters/storage/"));
  const listedPlaces = TABLES.flatMap(([table, { insertedIn }]) => insertedIn.map((file) => `${table} ${file}`));
  expect([...new Set(storage.flatMap(insertionsOf))].sort()).toEqual(listedPlaces.sort());
});

test.each(TABLES)("%s: its enforcement exists, and is used", (_, { enforcedBy: enforcement }) => {
  expect(enforcement.filter(([path, name]) => !containsName(name, readText(path)))).toEqual([]);
  const uses = (name: string) => files.reduce((sum, { text }) => sum + text.split(name).length - 1, 0);
  expect(enforcement.filter(([, name]) => uses(name) < 2)).toEqual([]);
});

test.each(TABLES)("%s: its treatment beyond the limit exists, and is tested", (_, { treatment, test: testPlace }) => {
  const isRefusal = !Object.hasOwn(ENDINGS, treatment);
  const refusalPattern = new RegExp(`Refusal\\(\\s*"${treatment}"`);
  if (isRefusal) expect(files.filter(({ text }) => refusalPattern.test(text))).not.toEqual([]);
  if (isRefusal || treatment === "oldest") expect(testPlace).toBeDefined();
  const isShown = ([file, title]: readonly [string, string]) =>
    new RegExp(`(?:clause|test)\\(\\s*"${title}`).test(readText(file));
  expect(testPlace === undefined || isShown(testPlace)).toBe(true);
});

test("an insertion is found by its table", () => {
  const text = 'await tx.insertInto("calls").execute();\ndb\n  .insertInto(\n"events")';
  expect(insertionsOf({ path: "adapters/storage/x.ts", text })).toEqual(["calls x.ts", "events x.ts"]);
});
